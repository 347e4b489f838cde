import { expect, test } from 'vitest';
import { findPatterns } from '../../web/src/redact/patterns.js';

test('the time to find private details grows as the text does', () => {
  const parts = ['1', 'a', '.', '1 ', '@', 'a@', '@a.', 'www.', 'http://', '1-', 'DE89 ', 'a.', '(', '\u0430', '\u00a0', 'e\u0301\u0301'];
  for (const part of parts) {
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
