// The documentation site's order and addresses (tools/docs). tests/browser/demo/site.test.ts follows the links of the built site.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kRoot = fileURLToPath(new URL('../..', import.meta.url));
const load = (path: string) => import(new URL(`../../tools/${path}`, import.meta.url).href);
const { entryNames } = (await load('docs.mjs')) as { entryNames(): Map<string, string> };
const { addressOf, sectionsOf } = (await load('docs/sections.mjs')) as {
  addressOf(path: string): string;
  sectionsOf(files: Iterable<string>): [string, string[]][];
};

const files = readdirSync(`${kRoot}docs`, { recursive: true, encoding: 'utf8' })
  .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.md'));

test('every guide is in one section, at an address of its own', () => {
  const placed = sectionsOf([...files, 'models/peruse-tagger/README.md']).flatMap(([, members]) => members);
  expect([...placed].sort()).toEqual([...files, 'models/peruse-tagger/README.md'].sort());
  expect(new Set(placed.map(addressOf)).size).toBe(placed.length);
  expect(addressOf('docs/tasks/README.md')).toBe('tasks/index');
  expect(addressOf('models/peruse-tagger/README.md')).toBe('cards/peruse-tagger');
});

test('the first section begins with the guides, and the models come next', () => {
  const [[section, members]] = sectionsOf(files) as [[string, string[]]];
  expect(section).toBe('Start');
  expect(members.slice(0, 2)).toEqual(['docs/README.md', 'docs/models.md']);
});

test('the reference has every entry of package.json', () => {
  const names = entryNames();
  expect([...names.values()]).toEqual(
    expect.arrayContaining(['peruse', 'peruse/redact', 'peruse/react', 'peruse/teach', 'peruse/tokenizer']),
  );
  for (const path of names.keys()) expect(existsSync(path), path).toBe(true);
});
