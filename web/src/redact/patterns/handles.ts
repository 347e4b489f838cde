// Names of users ('@mary_k', 'u/mary_k') and number plates.
import type { TextRange } from '../text_folding.js';
import { isCuedBefore, kAfter, kBefore, rangesOf, wordsOf } from './cues.js';

/** Words after '@' that name no person: rules of style sheets, annotations and decorators of programs, groups in chats. */
const kNoHandle =
  /^@(?:you|me|us|all|here|home|work|school|channel|everyone|team|media|import|keyframes|font-face|supports|charset|page|layer|container|property|apply|include|mixin|extend|use|if|else|for|return|param|params|returns?|throws?|type|typedef|see|link|example|since|version|author|deprecated|override|overload|abstract|static|staticmethod|classmethod|cached_property|dataclass|pytest|functools|app|test|before|after|autowired|bean|component|controller|service|entity|id|column|table|get|post|put|delete|nullable|notnull|suppresswarnings|ts-ignore|ts-expect-error|latest|next|types|babel|angular|vue|react|end|interface|implementation|selector|synthesize|main)$/i;
const kAt = /(?<![\p{L}\p{N}_.@/`$-])@[\p{L}_][\p{L}\p{N}_.-]{1,38}(?![\p{L}\p{N}_@/(])/dgu;
const kReddit = /(?<![\p{L}\p{N}_/])\/?u\/[A-Za-z\d_-]{3,20}(?![\p{L}\p{N}_/])/dgu;
const kCue =
  /(?<![\p{L}\p{N}])(?:insta(?:gram)?|twitter|telegram|discord|snap(?:chat)?|tik ?tok|github|skype|reddit|steam|signal|username|user name|user|handle|nick(?:name)?|screen name|benutzer(?:name)?|pseudo|utilisateur|usu[aá]rio|utente|gebruiker|użytkownik|kullanıcı|логин|пользовател[ья]|المستخدم|उपयोगकर्ता|用户|ユーザー|사용자)(?: (?:is|handle|name|account|id|ist|est|es|è|é)){0,2}(?: ?[:=：] ?| )["']?(?<detail>(?=[\w.-]*(?:[_\d]|[.]\w))[A-Za-z][\w.-]{1,29}\w)(?!\w)/dgiu;

export function findHandles(text: string): TextRange[] {
  const trimmed = rangesOf(text, kAt).map(({ start, end }) => ({ start, end: end - /[.-]*$/.exec(text.slice(start, end))![0].length }));
  const handles = trimmed.filter(({ start, end }) => !kNoHandle.test(text.slice(start, end)) && !isDecorator(text, start, end));
  return [
    ...handles,
    ...rangesOf(text, kReddit),
    ...rangesOf(text, kCue).filter(({ start, end }) => !/^[\d.]+$/.test(text.slice(start, end))),
  ];
}

/** Whether a line that only has '@word' precedes a line of a program. */
function isDecorator(text: string, start: number, end: number): boolean {
  if (!/(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, start - 40), start))) return false;
  return /^[^\n]{0,80}\n[ \t]*(?:@|def |class |async |public |private |protected |static |final |export |function |void |fun |override )/.test(
    text.slice(end, end + 120),
  );
}

const kPlateCue = wordsOf(
  '(?:licen[cs]e|number|registration|car|vehicle) ?(?:plates?|numbers?|registrations?|reg\\.?)',
  'plates?(?!-)',
  'reg\\.?(?:istration)?(?: no\\.?)?',
  '(?:auto|kfz-?|nummern)?(?:kennzeichen|nummernschild)',
  'immatricul\\p{L}*',
  'plaque',
  'matr[ií]cula',
  'targa(?:ta)?',
  'kenteken',
  'rejestrac\\p{L}*',
  'plaka',
  'гос\\.? ?номер\\p{L}*',
);
const kPlateCueReach = 30;

/** Plates with a form of their own: France and Italy (not measures in capitals, 'AT 120 KM'), the United Kingdom, Germany with a hyphen, India, Russia, China. */
const kOwnForm = new RegExp(
  `${kBefore}(?:[A-HJ-NP-TV-Z]{2}(?<gap>[ -])\\d{3}\\k<gap>(?![KCM]M|[KM]G|[AP]M|[KMGT]B|ML)[A-HJ-NP-TV-Z]{2}|[A-Z]{2}[0-7]\\d [A-HJ-PR-Z]{3}|[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} [1-9]\\d{1,3}[EH]?|[A-Z]{2}[ -]\\d{2}[ -][A-Z]{1,2}[ -]\\d{4}|[ABEKMHOPCTYX]\\d{3}[ABEKMHOPCTYX]{2} ?\\d{2,3}|[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼][A-Z][·. ]?[A-Z\\d]{5,6})${kAfter}(?!-)`,
  'dgu',
);
const kAnyForm = new RegExp(`${kBefore}(?=[A-Z\\dÄÖÜ ·-]{0,10}\\d)[A-ZÄÖÜ\\d]{1,4}(?:[ ·-]?[A-Z\\d]{1,4}){1,3}${kAfter}`, 'dgu');

export function findPlates(text: string): TextRange[] {
  const cued = rangesOf(text, kAnyForm).filter((range) => {
    const plate = text.slice(range.start, range.end).replaceAll(/[^A-ZÄÖÜ\d]/g, '');
    return plate.length >= 4 && plate.length <= 9 && isCuedBefore(text, range, kPlateCue, kPlateCueReach);
  });
  return [...rangesOf(text, kOwnForm), ...cued];
}
