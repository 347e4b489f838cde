// The documentation's table of covered configurations is the list that the golden tests run over.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const module = new URL('../../tools/coverage_table.mjs', import.meta.url).href;
const { coverageTable } = (await import(module)) as { coverageTable(): string };

test('docs/internals/covered-configurations.md is up to date', () => {
  const page = readFileSync(new URL('../../docs/internals/covered-configurations.md', import.meta.url), 'utf8');
  expect(page).toBe(coverageTable());
});
