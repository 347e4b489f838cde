// The entry of service workers and of Cloudflare's workers, in Node. Real ones run in tests/packaging.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nodeWasm } from '../../web/dist/engine/wasm_node.js';
import { pipeline } from '../../web/dist/index_service_worker.js';

const kFolder = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

test('a model loads from its files and a compiled engine, without a worker', async () => {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const files = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(kFolder, name))])));
  const wasm_module = await nodeWasm.compile('simd', undefined);
  const classify = await pipeline('text-classification', files, { variant: 'simd', wasm_module });
  expect(classify.info).toMatchObject({ variant: 'simd', worker: false, threads: 1 });
  expect(await classify('A gem of a film.')).toMatchObject([{ label: 'POSITIVE' }]);
  await classify.dispose();
});
