// Code blocks of README and docs compile against the package's types, and links between pages have targets.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/docs-code-'));
afterAll(() => rmSync(folder, { recursive: true }));

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const kGiven = `
declare global {
  const text: string, question: string, query: string;
  const texts: string[], passages: string[];
  const myCache: Cache;
}
export {};
`;

test('code that imports the package compiles', () => {
  const files = ['given.d.ts'];
  writeFileSync(join(folder, 'given.d.ts'), kGiven);
  for (const page of pages) {
    const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```(?:js|ts)\n([\s\S]*?)```/g)].map(([, code]) => code!);
    blocks
      .filter((code) => code.includes("from 'peruse"))
      .forEach((code, index) => {
        const name = `${page.replaceAll(/[^\w]/g, '_')}_${index}.ts`;
        writeFileSync(join(folder, name), code);
        files.push(name);
      });
  }
  expect(files.length).toBeGreaterThan(8);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('');
}, 60_000);

test.each([...pages, 'HACKING.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'])('links of %s lead somewhere', (page) => {
  const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(root, dirname(page), link)));
  expect(broken).toEqual([]);
});

// TypeDoc copies linked files, and fails for linked folders.
test.each(pages)('links of %s lead to files', (page) => {
  const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!);
  expect(links.filter((link) => !statSync(join(root, dirname(page), link)).isFile())).toEqual([]);
});

const guides = pages.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/internals/') && page !== 'docs/README.md');

test.each(guides)('%s begins with what its reader can do afterwards', (page) => {
  expect(readFileSync(join(root, page), 'utf8').split('\n').slice(1, 4).join(' ')).toContain('After reading this page you ');
});

test('docs/errors.md explains every code, once', () => {
  const [, codes] = /export type ErrorCode =([^;]+);/.exec(readFileSync(join(root, 'web/src/errors.ts'), 'utf8'))!;
  const known = [...codes!.matchAll(/'(\w+)'/g)].map(([, code]) => code!);
  const rows = [...readFileSync(join(root, 'docs/errors.md'), 'utf8').matchAll(/^\| (`.*?`) \|/gm)].map(([, cell]) => cell!);
  const explained = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code!));
  expect(explained.sort()).toEqual(known.sort());
});

test('HACKING.md has at most 1,900 words; what is about one subject has a page in docs/internals', () => {
  expect(readFileSync(join(root, 'HACKING.md'), 'utf8').trim().split(/\s+/).length).toBeLessThanOrEqual(1900);
});
