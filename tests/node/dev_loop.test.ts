import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';

const native = new URL('../../tools/dev/native.mjs', import.meta.url).href;
const { foldersFor, kFolders } = (await import(native)) as { foldersFor(path: string): string[]; kFolders: string[] };
const folders = (path: string) =>
  readdirSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test('every folder of core has tests that run after an edit', () => {
  for (const folder of folders('core')) {
    const tested = foldersFor(`core/${folder}/file.cc`);
    expect(tested.length, folder).toBeGreaterThan(0);
    for (const name of tested) expect(kFolders, folder).toContain(name);
  }
});

test('an edit of tests, headers, tables and shaders concerns its folder; other files concern none', () => {
  expect(foldersFor('tests/native/ops/linear_cases.cc')).toEqual(['ops']);
  expect(foldersFor('core/text/models/trie.h')).toEqual(['text']);
  expect(foldersFor('core/text/unicode/unicode_tables.inc')).toEqual(['text']);
  expect(foldersFor('core/cpu/gemm.cc')).toEqual(['cpu', 'ops']);
  expect(foldersFor('core/backend/cpu/linear.cc')).toEqual(['backend', 'ops']);
  expect(foldersFor('tests/native/backend/backend_test.cc')).toEqual(['backend']);
  expect(foldersFor('core/text/notes.md')).toEqual([]);
  expect(foldersFor('web/src/env.ts')).toEqual([]);
});

const { reachedSources } = (await import(new URL('../../cmake/reach.mjs', import.meta.url).href)) as {
  reachedSources(root: string, folder: string): string[];
};

test('a native test program compiles only the folders that its tests include', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const reached = (folder: string) => [
    ...new Set(reachedSources(root, folder).map((file) => /^(core\/backend\/\w+|core\/\w+|tests\/native)(?=\/)/.exec(file)![0])),
  ];
  expect(reached('base')).toEqual(['core/base', 'tests/native']);
  expect(reached('text')).toEqual(['core/base', 'core/text', 'tests/native']);
  expect(reached('train')).toEqual(expect.arrayContaining(['core/train', 'core/api', 'core/ops']));
  const tests = reachedSources(root, 'text').filter((file) => file.endsWith('_test.cc'));
  expect(tests.length).toBeGreaterThan(5);
  expect(tests.every((file) => file.startsWith('tests/native/text/'))).toBe(true);
});

const { neededVariants } = (await import(new URL('../../tools/dev/needed_builds.mjs', import.meta.url).href)) as {
  neededVariants(words: string[]): string[];
};

test('only the engines that the chosen tests can load are built', () => {
  expect(neededVariants(['text_folding'])).toEqual([]);
  expect(neededVariants(['patterns.test'])).toEqual([]);
  expect(neededVariants(['pipeline.test'])).toEqual(expect.arrayContaining(['simd', 'relaxed', 'simd-threads', 'relaxed-threads']));
  expect(neededVariants(['pipeline.test'])).not.toContain('teach');
  expect(neededVariants(['teach/threads'])).toEqual(expect.arrayContaining(['teach', 'teach-threads']));
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !/^(build|node_modules)\b/.test(name));
}

function cleanCopy(): string {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'peruse-dev-')));
  const paths = ['package.json', 'package-lock.json', 'tools', 'web/src', 'web/dist', 'tests/node', 'CMakePresets.json'];
  for (const path of paths)
    cpSync(join(root, path), join(copy, path), { recursive: true, filter: (one) => !one.endsWith('/node_modules') });
  mkdirSync(join(copy, 'tests/native'));
  mkdirSync(join(copy, 'core'));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

test('a round of the loop in a clean copy writes only into build, and leaves web/dist as it was', async () => {
  const copy = cleanCopy();
  try {
    const before = filesBelow(copy);
    const errors = readFileSync(join(copy, 'web/dist/errors.js'), 'utf8');
    const { status, stdout, stderr } = spawnSync(process.execPath, ['tools/dev.mjs', '--once', 'text_folding'], {
      cwd: copy,
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
    expect(stdout).toMatch(/1 passed/);
    expect(filesBelow(copy)).toEqual(before);
    expect(readFileSync(join(copy, 'web/dist/errors.js'), 'utf8')).toBe(errors);
    const dist = (await import(pathToFileURL(join(copy, 'web/dist/errors.js')).href)) as { PeruseError: unknown };
    expect(dist.PeruseError).toBeTypeOf('function');
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test('an edit of web/src runs the tests again that depend on it', async () => {
  const copy = cleanCopy();
  const loop = spawn(process.execPath, ['tools/dev.mjs', 'text_folding'], { cwd: copy, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [loop.stdout, loop.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  try {
    await vi.waitFor(() => expect(output).toContain('Waiting for file changes'), { timeout: 50_000, interval: 50 });
    const edited = join(copy, 'web/src/redact/text_folding.ts');
    writeFileSync(edited, readFileSync(edited, 'utf8').replace("normalize('NFKC')", "normalize('NFC')"));
    await vi.waitFor(() => expect(output).toMatch(/\d+ failed/), { timeout: 50_000, interval: 50 });
  } finally {
    process.kill(-loop.pid!);
    await once(loop, 'close');
    rmSync(copy, { recursive: true, force: true });
  }
}, 120_000);
