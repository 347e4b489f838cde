import { describe, expect, test } from 'vitest';
import { foldText } from '../../web/src/redact/text_folding.js';

function original(text: string, part: string): string {
  const folded = foldText(text);
  const start = folded.text.indexOf(part);
  expect(start, folded.text).toBeGreaterThanOrEqual(0);
  const { start: from, end: to } = folded.original({ start, end: start + part.length });
  return text.slice(from, to);
}

describe('characters', () => {
  test.each([
    ['full-width', '\uff14\uff11\uff11\uff11', '4111'],
    ['Arabic', '\u0664\u0661\u0661\u0661', '4111'],
    ['Persian', '\u06f4\u06f1\u06f1\u06f1', '4111'],
    ['Devanagari', '\u096a\u0967\u0967\u0967', '4111'],
    ['mathematical', '\u{1d7d2}\u{1d7cf}\u{1d7cf}\u{1d7cf}', '4111'],
    ['superscript', '\u2074\u00b9\u00b9\u00b9', '4111'],
    ['circled', '\u2463\u2460\u2776\u2780', '4111'],
    ['keycaps', '4\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e31\ufe0f\u20e3', '4111'],
    ['zero-width', '4\u200b1\u200d1\u20601\ufeff', '4111'],
    ['soft hyphens', 'An\u00adna', 'Anna'],
    ['direction marks', '\u202eAnna\u202c', 'Anna'],
    ['spaces', 'a\u00a0b\u2009c\u202fd\te', 'a b c d e'],
    ['hyphens', 'a\u2010b\u2011c\u2012d\u2013e\u2212f', 'a-b-c-d-e-f'],
    ['long dashes between digits only', '12\u201434 \u2014 a', '12-34 \u2014 a'],
    ['mathematical letters', '\u{1d400}\u{1d427}\u{1d427}\u{1d41a}', 'Anna'],
    ['boxed letters', '\u{1f170}\u{1f17d}\u{1f17d}\u{1f170}', 'ANNA'],
    ['an accent of its own', 'e\u0301\u00b4', '\u00e9\u00b4'],
    ['line ends of Windows become those of other systems', 'a\r\nb\u00e9', 'a\nb\u00e9'],
  ])('%s', (_, text, folded) => expect(foldText(text).text).toBe(folded));

  test('digits of every script', () => {
    for (let code = 0; code < 0x20000; ++code) {
      const digit = String.fromCodePoint(code);
      if (!/\p{Nd}/u.test(digit)) continue;
      const { text } = foldText(digit);
      expect(text, code.toString(16)).toMatch(/^\d$/);
      const next = foldText(String.fromCodePoint(code + 1)).text;
      if (text !== '9') expect(next, code.toString(16)).toBe(String(Number(text) + 1)); // ten digits in order
    }
  });
});

describe('look-alike letters', () => {
  test.each([
    ['a mixed word', '\u0410nna', 'Anna'],
    ['a mixed word among Russian ones', 'письмо \u0410nna', 'письмо Anna'],
    ['a whole word in a Latin text', '\u0421\u043e\u0441\u043e lives here', 'Coco lives here'],
    ['an address', '\u0430nna@ex\u0430mple.\u0441om', 'anna@example.com'],
    ['an account number', '\u0421\u041d93 0076', 'CH93 0076'],
    ['Greek', '\u0391nna', 'Anna'],
    ['small capitals', '\u1d00\u0274\u0274\u1d00', 'ANNA'],
    ['Russian stays', 'Он и Рома ехали', 'Он и Рома ехали'],
    ['Greek stays', 'το παιδί', 'το παιδί'],
    ['Turkish stays', 'Işık', 'Işık'],
  ])('%s', (_, text, folded) => expect(foldText(text).text).toBe(folded));
});

describe('the way back', () => {
  test('of plain text is the text itself', () => {
    expect(foldText('Anna!').original({ start: 1, end: 3 })).toEqual({ start: 1, end: 3 });
  });

  test.each([
    ['before \u200bAn\u00adna after', 'Anna', 'An\u00adna'],
    ['\u{1d7d2}\u{1d7cf}: \u{1d7cf}', '41', '\u{1d7d2}\u{1d7cf}'],
    ['\ufb01sh', 'i', '\ufb01'],
    ['\u00bd of e\u0301', '\u00e9', 'e\u0301'],
    ['\u200b\u200b', '', ''],
  ])('%j: %j is %j', (text, part, expected) => expect(original(text, part)).toBe(expected));

  test('covers the whole text and never goes backwards', () => {
    const text = 'a\u0301\u200b\ufb01\u{1d400}\u00bd \u0410nna\u00a0\u20605\ufe0f\u20e3';
    const folded = foldText(text);
    let end = 0;
    for (let i = 0; i < folded.text.length; ++i) {
      const range = folded.original({ start: i, end: i + 1 });
      expect(range.end).toBeGreaterThan(range.start);
      expect(range.end).toBeGreaterThanOrEqual(end);
      end = range.end;
    }
    expect(end).toBe(text.length);
  });
});
