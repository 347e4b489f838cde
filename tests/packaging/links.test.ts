// Links between pages of the package lead to its files and their headings.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, inject, test } from 'vitest';

const kPackage = join(inject('installed').folder, 'node_modules/peruse');
const pages = readdirSync(kPackage, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

function anchorsOf(page: string): string[] {
  const headings = readFileSync(page, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('there are pages', () => expect(pages.length).toBeGreaterThan(25));

test.each(pages)('%s', (page) => {
  const text = readFileSync(join(kPackage, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter((link) => !/^[a-z]+:/.test(link));
  const broken = links.filter((link) => {
    const [path, anchor] = link.split('#') as [string, string | undefined];
    const target = path === '' ? join(kPackage, page) : join(kPackage, dirname(page), path);
    if (relative(kPackage, target).startsWith('..') || !existsSync(target) || !statSync(target).isFile()) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});
