import type { TextRange } from '../text_folding.js';
import { rangesOf } from './cues.js';

const kLocalPart = /[\p{L}\p{N}\p{M}._%+'-]/u;
const kDomain = /[\p{L}\p{N}\p{M}-]+(?:\.[\p{L}\p{N}\p{M}-]+)+/uy;

/** Finds e-mail addresses, also disguised ones: 'ann (at) example dot com', 'a n n @ e x . c o m'. */
export function findEmails(text: string): TextRange[] {
  return [...plainEmails(text), ...rangesOf(text, kSpelledEmail), ...rangesOf(text, kSpacedEmail)];
}

/** Searches from each @ in both directions: a regular expression would take quadratic time for long words. */
function plainEmails(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    kDomain.lastIndex = at + 1;
    const domain = kDomain.exec(text)?.[0];
    if (domain === undefined) continue;
    let start = at;
    while (start > 0 && kLocalPart.test(text[start - 1]!)) --start;
    while (start < at && /[.'%+-]/.test(text[start]!)) ++start;
    if (start < at) found.push({ start, end: at + 1 + domain.replace(/-+$/, '').length });
  }
  return found;
}

/** Top-level domains of disguised addresses. Without this list, 'me @ home. It rains' would be an address. */
const kEnds =
  'com|org|net|edu|gov|info|biz|io|dev|app|me|eu|de|fr|es|it|nl|pl|se|no|dk|fi|ch|at|be|pt|cz|uk|ie|in|jp|cn|br|mx|ca|au|us|ru|example|test';
const kAt = String.raw`(?: ?[[({<] ?(?:at|@) ?[\])}>] ?| ?@ ?| at )`;
const kDot = String.raw`(?: ?[[({<] ?(?:dot|point|\.) ?[\])}>] ?| \. |\.| (?:dot|punkt|punto|point) )`;
const kSpelledEmail = new RegExp(
  String.raw`(?<![\w.+-])[\w+-]{1,64}(?:${kDot}[\w+-]{1,64}){0,3}${kAt}[\w-]{1,63}(?:${kDot}[\w-]{1,63}){0,3}${kDot}(?:${kEnds})(?![\w-])`,
  'gid',
);
const kSpacedEmail = /(?<![^\s<(:])(?:[\w.+-] ){2,64}@(?: [\w.-]){4,64}(?!\S)/dg;

/** Finds links: 'https://...', 'www....', and URLs of any scheme with a user name or password. */
export function findLinks(text: string): TextRange[] {
  const links = text.matchAll(/(?<![\p{L}\p{N}_])(?:https?:\/\/|www\.|[a-z][a-z\d+.-]{1,20}:\/\/[^\s/@]{1,256}@)[^\s<>"')\]]+/giu);
  return [...links].flatMap(({ 0: link, index }) => {
    const words = link.replace(/[.,;:!?]+$/, '');
    return /^(https?:\/\/|www)$/i.test(words) ? [] : [{ start: index, end: index + words.length }];
  });
}
