import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));

// CheckPlace in core/base/status.h
function placeOf(name: string, line: number): number {
  let hash = 0;
  for (const letter of Buffer.from(name)) hash = (Math.imul(hash, 31) + letter) >>> 0;
  return (hash % 100000) * 10000 + (line % 10000);
}

test('a number names the line of a check', () => {
  expect(placeOf('a.cc', 12)).toBe(371010012); // tests/native/base/status_test.cc has the same number
  const file = 'core/weights/float_reader.cc';
  const line =
    readFileSync(`${kRoot}${file}`, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('PERUSE_CHECK(')) + 1;
  const name = (place: number) => execFileSync(process.execPath, [`${kRoot}tools/check_place.mjs`, String(place)], { encoding: 'utf8' });
  expect(name(placeOf('float_reader.cc', line))).toContain(`${file}:${line}\n`);
  expect(name(1)).toBe('No check has this number.\n');
});
