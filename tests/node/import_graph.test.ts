// The layers of web/src: imports point down this list, never up.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kSources = fileURLToPath(new URL('../../web/src', import.meta.url));

const kLayers = [
  'adapters cli',
  'quantize teach transformers',
  'index_bundle index_inline',
  'inline',
  'index index_node index_service_worker index_tokenizer index_tokenizer_node phone_numbers isolate isolate_worker',
  'face',
  'model_cache',
  'pipeline',
  'pipeline_classes',
  'describe pipeline_members redactor semantic_index tokenizer',
  'opened_model',
  'pipeline_info pipeline_options',
  'listener resident_models',
  'platform',
  'worker',
  'gpu',
  'engine',
  'onnx',
  'sources',
  'extras index_redact',
  'search',
  'tasks cache',
  'redact',
  'options_transformers_js',
  'env options tensor',
  'env_transformers_js',
  'checks',
  'errors events isolated_response own_fetch patience precisions progress',
  'web_types',
].map((names) => names.split(' '));

function roomOf(module: string): string {
  return module.split('/')[0]!.replace(/(\.d)?\.(ts|js)$/, '');
}

function layerOf(module: string): number {
  const layer = kLayers.findIndex((names) => names.includes(roomOf(module)));
  if (layer < 0) throw new Error(`${module} is in no layer`);
  return layer;
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from |import\(|import )'(\.[^']+\.js)'/g)]
    .map(([, name]) => join(dirname(file), name!))
    .filter((target) => !target.startsWith('..')); // bundles are elsewhere
}

function upward(file: string, text: string): string[] {
  return importsOf(file, text)
    .filter((target) => roomOf(target) !== roomOf(file) && layerOf(target) <= layerOf(file))
    .map((target) => `${file} imports ${target}`);
}

function circles(graph: Map<string, string[]>): string[] {
  const reach = (from: string, seen: Set<string>): Set<string> => {
    for (const next of graph.get(from) ?? []) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  return [...graph.keys()].filter((file) => reach(file, new Set()).has(file));
}

const files = readdirSync(kSources, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(kSources, file), 'utf8') }));

test('every import goes down', () => {
  expect(files.length).toBeGreaterThan(60);
  expect(files.flatMap(({ file, text }) => upward(file, text))).toEqual([]);
});

test('no file imports itself over others', () => {
  expect(circles(new Map(files.map(({ file, text }) => [file, importsOf(file, text).map((name) => name.replace(/js$/, 'ts'))])))).toEqual(
    [],
  );
});

test('what goes up would be found', () => {
  expect(upward('cache/a.ts', "import { b } from '../sources/b.js';")).toHaveLength(1);
  expect(upward('cache/a.ts', "import { b } from '../tasks/b.js';")).toHaveLength(1);
  expect(upward('sources/a.ts', "const { b } = await import('../cache/b.js');")).toEqual([]);
  expect(
    circles(
      new Map([
        ['a', ['b']],
        ['b', ['c']],
        ['c', ['b']],
      ]),
    ),
  ).toEqual(['b', 'c']);
});
