import { expect, test } from 'vitest';
import { redact } from '../../web/src/index_redact.js';
import { isOrdinary } from '../../web/src/redact/ordinary_words.js';
import { findPatterns } from '../../web/src/redact/patterns.js';

test('the time to find private details grows as the text does', () => {
  const signs = ['1', 'a', '.', '1 ', '@', 'a@', '@a.', 'www.', 'http://', '1-', 'DE89 ', 'a.', '(', '\u0430', '\u00a0', 'e\u0301\u0301'];
  const cues = ['Mr A ', 'my name is A', 'I live at 1 A, ', 'my pin is aa.', 'passport number A1', 'паспорт', '私は山', '王先生'];
  for (const part of [...signs, ...cues]) {
    // Milliseconds of processor time, because a busy machine does not affect it.
    const time = (length: number) => {
      const text = part.repeat(Math.ceil(length / part.length));
      const start = process.cpuUsage();
      findPatterns(text);
      return process.cpuUsage(start).user / 1000;
    };
    time(10_000);
    const short = Math.min(time(10_000), time(10_000), time(10_000));
    const long = Math.min(time(160_000), time(160_000));
    expect(long / Math.max(short, 3), JSON.stringify(part)).toBeLessThan(128); // 16 times the text; quadratic time would be 256 times
  }
}, 120_000);

/** Milliseconds of processor time to redact a text. */
async function timeOf(text: string): Promise<number> {
  const start = process.cpuUsage();
  await redact(text);
  return process.cpuUsage(start).user / 1000;
}

let proseTime: number | undefined;

test.each(['\ufdfa', '(0', '0(', '1_', '\u4e00 ', '4 ', '&#x', '=41', '<a '])(
  'a megabyte of %j takes at most 30 times as long as one of prose, and 300 MB',
  async (part) => {
    const prose = 'Thank you for the book that you sent on Tuesday. '.repeat(20_408);
    proseTime ??= Math.min(await timeOf(prose), await timeOf(prose));
    const text = part.repeat(1_000_000 / part.length);
    globalThis.gc?.();
    const before = process.memoryUsage();
    expect((await timeOf(text)) / proseTime).toBeLessThan(30); // up to 13 times
    expect((process.memoryUsage().heapUsed - before.heapUsed) / 1e6).toBeLessThan(300);
  },
);

test('fail_closed replaces many occurrences', async () => {
  const first = (texts: readonly string[]) => texts.map(() => [{ type: 'A', start: 0, end: 3 }]);
  const { entities } = await redact('Ohh '.repeat(64 * 1024), { finders: [first], fail_closed: true });
  expect(entities).toHaveLength(64 * 1024);
});

/** Each word is a finding that most rules about ordinary words look at, because the model is unsure of it. */
test.each([
  ['small letters in a sentence', 'Er jonas ', 'jonas'],
  ['a first word', 'Mir ist ', 'Mir'],
  ['Japanese', '中世は', '中世'],
  ['Chinese', '冬季，', '冬季'],
  ['Hindi', 'घर रहता ', 'घर'],
  ['measures', '80 cm ', '80'],
])(
  'the time of the rules about ordinary words grows as the text does: %s',
  (_, part, word) => {
    const time = (count: number) => {
      const text = part.repeat(count);
      const details = Array.from({ length: count }, (_, index) => {
        const start = index * part.length;
        return { type: 'LOC', score: 0.75, certainty: 0.97, start, end: start + word.length };
      });
      const start = process.cpuUsage();
      for (const [at, detail] of details.entries()) isOrdinary(text, detail, [details.at(at - 1)!, details[at + 1] ?? detail]);
      return process.cpuUsage(start).user / 1000;
    };
    time(2000);
    const short = Math.min(time(5000), time(5000), time(5000));
    const long = Math.min(time(20_000), time(20_000), time(20_000));
    expect(long / Math.max(short, 3)).toBeLessThan(10); // 4 times the text; quadratic time would be 16 times
  },
  60_000,
);
