import type { TextRange } from '../text_folding.js';
import { rangesOf } from './cues.js';

const kLocalPart = /[\p{L}\p{N}\p{M}._%+'-]/u;
const kLatinPart = /[\p{Script=Latin}\d._%+'-]/u;
const kDomain = /[\p{L}\p{N}\p{M}-]+(?:\.[\p{L}\p{N}\p{M}-]+)+/uy;
const kLatinDomain = /[\p{Script=Latin}\d-]+(?:\.[\p{Script=Latin}\d-]+)+/uy;

/** Finds e-mail addresses, also disguised ones: 'ann (at) example dot com', 'a n n @ e x . c o m'. */
export function findEmails(text: string): TextRange[] {
  return [...plainEmails(text), ...rangesOf(text, kSpelledEmail), ...rangesOf(text, kSpacedEmail)];
}

/**
 * Searches from each @ in both directions: a regular expression would take quadratic time for long words. An address in Latin letters ends
 * where another script begins, because many scripts write no spaces.
 */
function plainEmails(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const domain = domainAt(text, at + 1);
    if (domain === undefined) continue;
    let start = at;
    const part = kLatinPart.test(text[at - 1] ?? '') ? kLatinPart : kLocalPart;
    while (start > 0 && part.test(text[start - 1]!)) --start;
    while (start < at && /[.'%+-]/.test(text[start]!)) ++start;
    if (start < at) found.push({ start, end: at + 1 + domain.replace(/-+$/, '').length });
  }
  return found;
}

function domainAt(text: string, at: number): string | undefined {
  kLatinDomain.lastIndex = kDomain.lastIndex = at;
  return (kLatinDomain.exec(text) ?? kDomain.exec(text))?.[0];
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
  const links = text.matchAll(
    /(?<![\p{Script=Latin}\d])(?:https?:\/\/|www\.|[a-z][a-z\d+.-]{1,20}:\/\/[^\s/@]{1,256}@)[^\s<>"')\]，。；：！？、（）《》「」『』【】]+/giu,
  );
  return [...links].flatMap(({ 0: link, index }) => {
    const words = link.replace(/[.,;:!?]+$/, '');
    return /^(https?:\/\/|www)$/i.test(words) ? [] : [{ start: index, end: index + words.length }];
  });
}
