// A second reading of a text, with encodings undone: entities and tags of HTML, percent-encoding, escapes of JSON, quoted-printable, quoted
// mail, text that is displayed from right to left, crossed-out letters, Chinese digits, invisible characters and verbs of printf as borders of words.
// Finders read it in addition to the folded text.
import { edited } from './edited_text.js';
import { type FoldedText, foldText, type TextRange } from './text_folding.js';

/** Rounds of decoding: '%2520' and '&amp;#52;' are encoded twice. */
const kRounds = 3;

/** Returns the folded text after decoding, or undefined if that equals the folded text. */
export function decodedText(text: string, folded: FoldedText): FoldedText | undefined {
  if (!kEncoded.test(text)) return undefined;
  const whole: FoldedText = { text, original: (range) => range };
  let decoded = edited(withoutMarkup(whole), kReversed, ({ groups }) => [...groups!.inner!].reverse().join(''));
  decoded = edited(decoded, kQuotedPrintable, ([written]) => fromBytes(written.slice(1).split('=')));
  decoded = edited(decoded, kFormValue, ([value]) => value.replaceAll('+', ' '));
  for (let round = 0; round < kRounds; ++round) {
    const next = edited(decoded, kEscape, unescaped);
    if (next === decoded) break;
    decoded = withoutMarkup(next);
  }
  decoded = edited(decoded, kMarked, ([marked]) => (/^.$/u.test(marked.normalize('NFC')) ? undefined : marked[0]));
  decoded = edited(decoded, kHanNumber, ([number]) => number.replaceAll(/\p{Script=Han}/gu, hanDigit));
  decoded = edited(decoded, kDigitSeparator, () => ' ');
  decoded = edited(decoded, kBorder, () => ' ');
  if (decoded === whole) return undefined;
  const again = foldText(decoded.text);
  if (again.text === folded.text) return undefined;
  return { text: again.text, original: (range: TextRange) => decoded.original(again.original(range)) };
}

/** Texts without these characters have no encodings. */
const kEncoded = /[&%\\=<>+\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Mn}〇零一二三四五六七八九壹贰叁肆伍陆柒捌玖]|\d[_~*|·•‧∙⋅・]\d/u;

const kBlockTag = /<\/?(?:p|br|div|td|th|tr|li|ul|ol|h[1-6]|table|hr|dd|dt|option|section|article|blockquote)\b/i;
/** Comments and tags, soft line ends of quoted-printable, and line ends of quoted mail. */
const kMarkup = /(?:<!--[^>]{0,500}-->|<\/?[a-z][a-z\d:-]{0,20}(?:\s[^<>]{0,500})?\/?>)+|=\r?\n|\r?\n(?:[>|] ?)+/giu;

function withoutMarkup(text: FoldedText): FoldedText {
  return edited(text, kMarkup, ([found]) => (/^[=<]/.test(found) && !kBlockTag.test(found) ? '' : '\n'));
}

/** Characters after a right-to-left override appear in reverse order. */
const kReversed = /\u202e(?<inner>[^\u202c\u202d\n]+)\u202c?/gu;

/** Undone once, before other encodings, because 'x%3D4111' contains '=41' after them. */
const kQuotedPrintable = /(?:=[\dA-F]{2})+/g;

const kEscape =
  /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8}\d{0,2});?|(?:%[\da-f]{2})+|\\u\{[\da-f]{1,6}\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\[nrtbfv"'/\\]/giu;

function unescaped([written]: RegExpExecArray): string | undefined {
  if (written.startsWith('&')) return entity(written.replace(/;$/, '').slice(1));
  if (written.startsWith('%')) return fromBytes(written.slice(1).split('%'));
  const code = /^\\[ux]\{?([\da-f]+)\}?$/i.exec(written)?.[1];
  if (code !== undefined) return character(Number.parseInt(code, 16));
  return /[nrtbfv]$/.test(written) ? ' ' : written.slice(1);
}

/** Undefined for control characters, which only numbers in code decode to. */
function character(code: number): string | undefined {
  if (code === 9 || code === 10 || code === 13) return ' ';
  return code < 32 || (code >= 127 && code < 160) || code > 0x10ffff ? undefined : String.fromCodePoint(code);
}

const kUtf8 = new TextDecoder();

function fromBytes(hex: readonly string[]): string | undefined {
  const bytes = Uint8Array.from(hex, (digits) => Number.parseInt(digits, 16));
  const text = kUtf8.decode(bytes);
  const isUtf8 = !text.includes('\ufffd');
  const characters = isUtf8 ? [...text].map((each) => character(each.codePointAt(0)!)) : [...bytes].map(character); // Latin-1
  return characters.includes(undefined) ? undefined : characters.join('');
}

const kNamed: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'amp& lt< gt> quot" apos\' nbsp  ensp  emsp  thinsp  Tab  NewLine  commat@ period. comma, colon: semi; sol/ bsol\\ lowbar_ hyphen- dash- ' +
    'ndash- mdash- minus- plus+ equals= num# percnt% lpar( rpar) lsqb[ rsqb] szlig\u00df aelig\u00e6 AElig\u00c6 oelig\u0153 OElig\u0152 eth\u00f0 ETH\u00d0 ' +
    'thorn\u00fe THORN\u00de oslash\u00f8 Oslash\u00d8 aring\u00e5 Aring\u00c5 iquest\u00bf iexcl\u00a1 middot\u00b7 shy\u00ad zwnj\u200c zwj\u200d lsquo\u2018 rsquo\u2019'
  )
    .split(/(?<=.) (?=[a-zA-Z])/)
    .map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
);
const kAccents: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circ: '\u0302',
  tilde: '\u0303',
  uml: '\u0308',
  caron: '\u030c',
  cedil: '\u0327',
};

function entity(name: string): string | undefined {
  if (/^#x/i.test(name)) return character(Number.parseInt(name.slice(2), 16));
  if (name.startsWith('#')) return character(Number(name.slice(1)));
  const accent = kAccents[name.slice(1)];
  return accent === undefined ? kNamed[name] : `${name[0]}${accent}`.normalize('NFC');
}

/** Values of forms, in which '+' is a space: 'name=Mary+Miller&street='. */
const kFormValue = /(?<=[\w\]]=)[^\s&=+]{1,100}(?:\+[^\s&=+]{1,100})+/gu;
/** Letters and digits with marks: lines through letters, for example. Accents, which Unicode composes with the letter, stay. */
const kMarked = /[A-Za-z\d]\p{Mn}+/gu;

const kHanDigits = '〇一二三四五六七八九零壹贰叁肆伍陆柒捌玖';
/** Seven digits or more, the length of the shortest telephone number. */
const kHanNumber = /[〇零一二三四五六七八九壹贰叁肆伍陆柒捌玖](?:[ -]?[〇零一二三四五六七八九壹贰叁肆伍陆柒捌玖\d]){6,40}/gu;

function hanDigit(digit: string): string {
  return String(kHanDigits.indexOf(digit) % 10);
}

const kDigitSeparator = /(?<=\d)[_~*|·•‧∙⋅・](?=\d)/gu;

/**
 * Zero-width spaces and marks of the writing direction after a word, and verbs of printf ('user=%s') before one: the word ends or begins there.
 * Between digits they disguise a number, which the folded text has whole.
 */
const kBorder = /(?:(?<=[a-z_])|(?<=\d)(?=.\D))[\u200b\u200e\u200f\u202a-\u202c\u2066-\u2069]|%(?:[g-z]|[a-f](?![\da-f]))(?=[\w+])/giu;
