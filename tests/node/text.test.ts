import { expect, test } from 'vitest';
import { wellFormed } from '../../web/src/engine/module_calls.js';

test.each([
  ['plain', 'plain'],
  ['\u{1F600} grin', '\u{1F600} grin'],
  ['\uD83D', '\uFFFD'],
  ['\uDE00', '\uFFFD'],
  ['a\uD83Db\uDE00c', 'a\uFFFDb\uFFFDc'],
  ['\uD83D\uD83D\uDE00\uDE00', '\uFFFD\u{1F600}\uFFFD'],
  ['\uDE00\uD83D', '\uFFFD\uFFFD'],
])('wellFormed(%j) keeps length and pairs', (text, expected) => {
  expect(wellFormed(text)).toBe(expected);
  expect(wellFormed(text)).toHaveLength(text.length);
});
