// The tables of options in docs/tasks follow the schemas of the options.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kOptionsByTask } from '../../web/src/tasks/call.js';
import { kTaskNames } from '../../web/src/tasks/tasks.js';

interface Table {
  page: string;
  start: string;
  table: string;
}
const tool = (await import(new URL('../../tools/option_tables.mjs', import.meta.url).href)) as {
  optionTables(): Promise<Table[]>;
  withTable(text: string, table: Table): string;
};

/** Names in the first column of the table whose header begins with "option". */
function optionsIn(text: string): string[] {
  const [, rows = ''] = /^\| option \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(text) ?? [];
  return rows.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name!));
}

test('each page has the table of the schema; after a change, run node tools/option_tables.mjs', async () => {
  const tables = await tool.optionTables();
  expect(tables.length).toBeGreaterThan(8);
  for (const one of tables) {
    const text = readFileSync(one.page, 'utf8');
    expect(text).toBe(tool.withTable(text, one));
  }
}, 30_000);

test.each(kTaskNames)('docs/tasks/%s.md has a row for each option', (task) => {
  const page = readFileSync(new URL(`../../docs/tasks/${task}.md`, import.meta.url), 'utf8');
  expect(optionsIn(page).sort()).toEqual(Object.keys(kOptionsByTask.get(task) ?? {}).sort());
});

test('a missing row would be found', () => {
  expect(optionsIn('| option | default | |\n|---|---|---|\n| `a`, `b` | 1 | `c` |\n')).toEqual(['a', 'b']);
});
