// A page on a static host with a strict content security policy, in Chromium. It must request only the package's files and the named models.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { kIsolation, readFolder, type Site, tinyModels, visit } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";

const kOneHeader = { 'Document-Isolation-Policy': 'isolate-and-require-corp' };

async function staticSite(): Promise<Site> {
  const read = (name: string) => readFile(new URL(name, import.meta.url));
  return {
    'index.html':
      '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script type="module" src="/static.js"></script>',
    'static.js': await read('static.js'),
    'work.js': await read('work.js'),
    ...(await readFolder(`${kRoot}web/bundle`, kRoot)),
    ...(await tinyModels()),
  };
}

test.each([
  ['an isolated', kIsolation, availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed'],
  ['a one-header isolated', kOneHeader, availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed'],
  ['a plain', {}, 'relaxed'],
])('%s page works under a strict policy and asks for nothing else', async (_, headers, variant) => {
  const { result, requests, elsewhere, complaints } = await visit(await staticSite(), { ...headers, 'Content-Security-Policy': kPolicy });

  expect(result.labels).toEqual([{ label: expect.stringMatching(/^LABEL_\d$/), score: expect.any(Number) }]);
  expect(result.best).toMatchObject({ answer: expect.any(String), start: expect.any(Number), end: expect.any(Number) });
  expect(result.variant).toBe(variant);
  // The package prints nothing; Chromium reports missing optional files.
  expect(complaints.filter((line) => !/404/.test(line))).toEqual([]);

  const modelFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
  const named = new Set(['classifier', 'reader'].flatMap((model) => modelFiles.map((file) => `models/${model}/${file}`)));
  const own = (path: string) =>
    ['index.html', 'static.js', 'work.js'].includes(path) ||
    ['peruse.js', 'peruse-worker.js', `peruse-${variant}.wasm`].map((name) => `web/bundle/${name}`).includes(path);
  expect(requests.filter((path) => !own(path) && !named.has(path))).toEqual([]);
  for (const path of named)
    expect(
      requests.filter((asked) => asked === path),
      path,
    ).toHaveLength(1);
  expect(elsewhere).toEqual([]);
});
