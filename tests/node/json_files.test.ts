// Replaces every JSON file of every kind of model, and each member, by values of other types. A load succeeds, or fails with an error other
// than 'internal'.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PeruseError, pipeline } from '../../web/dist/index_node.js';
import { convertCheckpoint } from '../../web/dist/quantize/quantize.js';
import { peruse } from './cli/run_in_test.js';
import type { Files } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
/** Replacements for files and members. String() and Number() throw for an object with a member toString. */
const kFewValues: unknown[] = [null, [null], 'x', { toString: 1, valueOf: 1 }];
const kValues: unknown[] = [...kFewValues, [], {}, { 0: { toString: 1 } }, '', 3, -1, true, [{ toString: 1 }]];

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const parse = (content: Uint8Array | undefined) => JSON.parse(new TextDecoder().decode(content)) as unknown;

async function folder(path: string): Promise<Files> {
  const entries = await readdir(join(kFixtures, path), { recursive: true, withFileTypes: true });
  const files: Files = {};
  for (const entry of entries.filter((one) => one.isFile() && !/^(README|texts|expected)/.test(one.name))) {
    const at = join(entry.parentPath, entry.name);
    files[at.slice(join(kFixtures, path).length + 1)] = new Uint8Array(await readFile(at));
  }
  return files;
}

interface Model {
  task: 'text-classification' | 'feature-extraction' | 'zero-shot-classification' | 'zero-shot-token-classification';
  files: Files;
  adapter?: Files;
}
const kModels: Record<string, () => Promise<Model>> = {
  classifier: async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const config = { num_labels: 3, id2label: { 0: 'a', 1: 'b', 2: 'c' }, ...(parse(files['config.json']) as object) };
    return { task: 'text-classification', files: { ...files, 'config.json': json(config) } };
  },
  shards: async () => ({ task: 'text-classification', files: await folder('sharded') }),
  sentences: async () => ({ task: 'feature-extraction', files: await folder('sentence/dense-tanh') }),
  GLiNER: async () => {
    const { 'labels_tokenizer/tokenizer.json': _, ...files } = { ...(await folder('gliner/tokenizer')), ...(await folder('gliner/bi')) };
    const tokenizer = Object.entries(await folder('gliner/tokenizer')).map(([name, content]) => [`labels_tokenizer/${name}`, content]);
    return { task: 'zero-shot-token-classification', files: { ...files, ...Object.fromEntries(tokenizer) } };
  },
  GLiClass: async () => ({
    task: 'zero-shot-classification',
    files: { ...(await folder('gliclass/tokenizer')), ...(await folder('gliclass/simple')) },
  }),
  adapter: async () => ({
    task: 'text-classification',
    files: (await readTiny('deberta-v2-sequence')).files,
    adapter: await folder('adapters/linear'),
  }),
};

function* variants(files: Files, values = kValues): Generator<[what: string, files: Files]> {
  for (const [name, content] of Object.entries(files).filter(([file]) => file.endsWith('.json'))) {
    for (const value of values) yield [`${name} is ${JSON.stringify(value)}`, { ...files, [name]: json(value) }];
    if (name.endsWith('tokenizer.json')) continue; // read by the engine only, which tests/fuzz cover
    const whole = parse(content);
    const kinds = Array.isArray(whole) ? (whole as object[]).map((one, i) => [i, one] as const) : [[undefined, whole as object] as const];
    for (const [index, members] of kinds) {
      for (const member of Object.keys(members)) {
        for (const value of values) {
          const changed = { ...members, [member]: value };
          const list = index === undefined ? changed : (whole as object[]).map((one, i) => (i === index ? changed : one));
          yield [`${member} of ${name} is ${JSON.stringify(value)}`, { ...files, [name]: json(list) }];
        }
      }
    }
  }
}

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-json-'));
});
afterAll(() => rm(root, { recursive: true }));

async function write(files: Files): Promise<string> {
  const path = join(root, 'model');
  await rm(path, { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return path;
}

function expectTyped(error: unknown, what: string): void {
  expect(error, what).toBeInstanceOf(PeruseError);
  expect(['internal', 'worker_died'], `${what}: ${String(error)}`).not.toContain((error as PeruseError).code);
}

test.each(Object.keys(kModels))('%s: loads or is refused', { timeout: 300_000 }, async (name) => {
  const { task, files, adapter } = await kModels[name]!();
  const load = async (changed: Files, adapted?: Files) => {
    const pipe = await pipeline(task, changed, { variant: 'simd', worker: false, ...(adapted && { adapter: adapted }) });
    await pipe.dispose();
  };
  await load(files, adapter);
  for (const [what, changed] of variants(files)) await load(changed, adapter).catch((error) => expectTyped(error, what));
  if (adapter) for (const [what, changed] of variants(adapter)) await load(files, changed).catch((error) => expectTyped(error, what));
});

test.each(['classifier', 'GLiNER'])('%s: inspect and convert read it or refuse it', { timeout: 300_000 }, async (name) => {
  const { files } = await kModels[name]!();
  for (const [what, changed] of variants(files, [{ 0: { toString: 1 }, toString: 1 }])) {
    const path = await write(changed);
    const { code, err } = await peruse(['inspect', path]);
    expect([0, 1], `${what}: ${err}`).toContain(code);
    expect(err, what).not.toMatch(/internal|worker_died|\n +at /);
    await convertCheckpoint(path, join(root, 'converted'), { overwrite: true }).catch((error) => expectTyped(error, what));
  }
});

test.for(kFewValues)('an adapter that names its base with %j', async (value) => {
  const { adapter } = await kModels.adapter!();
  const config = parse(adapter!['adapter_config.json']) as object;
  for (const content of [value, { ...config, base_model_name_or_path: value }, { ...config, revision: value }]) {
    const path = await write({ ...adapter!, 'adapter_config.json': json(content) });
    await pipeline('text-classification', path, { variant: 'simd' }).then(
      (pipe) => pipe.dispose(),
      (error) => expectTyped(error, JSON.stringify(content)),
    );
  }
});
