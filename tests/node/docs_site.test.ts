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

const { sectionsOfPage } = (await load('docs/meaning.mjs')) as {
  sectionsOfPage(html: string, address: string): { id: string; text: string; metadata: { page: string; title: string } }[];
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

test('the search by meaning reads the sections of a guide, as the page shows them', () => {
  const page = [
    '<nav>Menu</nav><div class="tsd-panel tsd-typography"><h1 id="a" class="x">A &amp; B<a href="#a"><svg>icon</svg></a></h1>',
    '<p>First <code>x&lt;y</code>.</p><h2 id="empty">Empty</h2><h2 id="b">More</h2>',
    '<table><tr><td>1</td><td>2</td></tr></table><pre><code>let z;</code><button>Copy</button></pre><nav class="around">next</nav>',
  ].join('\n');
  expect(sectionsOfPage(page, 'tasks/a.html')).toEqual([
    { id: 'tasks/a.html#a', text: 'A & B\nFirst x<y.', metadata: { page: 'A & B', title: 'A & B' } },
    { id: 'tasks/a.html#b', text: 'A & B: More\n1\n2\nlet z;', metadata: { page: 'A & B', title: 'More' } },
  ]);
  expect(() => sectionsOfPage('<p>another page</p>', 'x.html')).toThrow('x.html');
});
