// Marks that a token classifier adds to a name or takes for one: borders of cells, tags, laughter, signs alone.
import type { Detail } from './details.js';
import { isNameType } from './letter_case.js';

/** Laughter before or after a sentence. */
const kLaughter =
  '(?:a?(?:h[aei]){2,}h?|(?:ah){2,}a?|(?:j[aei]){2,}j?|lo+l|lmf?ao|rofl|x+d+|mdr+|ptdr+|k{3,}|(?:rs){2,}|а?(?:х[аеи]){2,}х?|а(?:ха)+х?|ه{3,}|(?:हा){2,}|(?:ही){2,}|[哈嘻呵]{2,}|w{2,}|[\\u110f\\u1112]{2,})';
/** Whether words consist of laughter alone. */
export const kLaughing = new RegExp(`^[^\\p{L}]*${kLaughter}[^\\p{L}]*$`, 'iu');

/** What separates the parts of a name: borders of cells, tags, laughter at an end. */
const kBetween = new RegExp(
  `\\s*\\|[\\s|:-]*|<\\/?[a-z][a-z\\d]*(?:\\s[^<>\\n]{0,200})?\\/?>|^${kLaughter}(?:[\\s,.!]+|$)|[\\s,.!]+${kLaughter}$`,
  'giu',
);
/** Characters that are searched for a tag and its end tag. */
const kLongestTag = 20;
const kLongestElement = 4000;

/** Parts of a finding between marks; numbers may have tags and borders between their digits. A part has a letter or digit and is not the name of an element ('p' of '</p>'). */
export function withoutMarks(text: string, detail: Detail): Detail[] {
  const words = text.slice(detail.start, detail.end);
  const parts: Detail[] = [];
  let at = 0;
  const add = (start: number, end: number) => {
    const part = { ...detail, start: detail.start + start, end: detail.start + end };
    if (/[\p{L}\p{N}]/u.test(words.slice(start, end)) && !isElement(text, part)) parts.push(part);
  };
  for (const { 0: mark, index } of isNameType(detail.type) ? words.matchAll(kBetween) : []) {
    add(at, index);
    at = index + mark.length;
  }
  add(at, words.length);
  return parts;
}

/** Whether a finding is the name of an element that has an end tag. */
function isElement(text: string, { start, end }: Detail): boolean {
  const from = Math.max(0, start - kLongestTag);
  const at = from + text.slice(from, end).lastIndexOf('<');
  const [tag, name] = /^<\/?([a-z][a-z\d]*)(?=[\s/>])/i.exec(text.slice(at, at + kLongestTag)) ?? [];
  return tag !== undefined && end <= at + tag.length && text.slice(at, at + kLongestElement).includes(`</${name}>`);
}
