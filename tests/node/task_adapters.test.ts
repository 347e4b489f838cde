// Adapters for tasks within a checkpoint (Jina v3): the option lora_task, and weights that two tasks share.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Pipeline, pipeline } from '../../web/dist/index_node.js';
import { filesOf } from './support/model_hub.js';
import { readTiny } from './support/tiny_files.js';

const { files } = await readTiny('jina-v3-adapter');
const { lora_task: kTask, ...config } = JSON.parse(new TextDecoder().decode(files['config.json'])) as Record<string, unknown>;
const kModel = { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) };
const kSettings = { variant: 'simd', worker: false } as const;

async function vectorBy(embed: Pipeline<'feature-extraction'>): Promise<number[]> {
  return [...(await embed('t1 t7 t3', { pooling: 'mean' })).data];
}

test('the adapter of a task is that which config.json of the golden names', async () => {
  const named = await pipeline('feature-extraction', files, kSettings);
  const chosen = await pipeline('feature-extraction', kModel, { ...kSettings, lora_task: kTask as string });
  const plain = await pipeline('feature-extraction', kModel, kSettings);
  const expected = await vectorBy(named);
  expect(await vectorBy(chosen)).toEqual(expected);
  expect(await vectorBy(plain)).not.toEqual(expected);
  for (const embed of [named, chosen, plain]) await embed.dispose();
});

test('other tasks, and other models, are refused by name', async () => {
  const open = pipeline('feature-extraction', kModel, { ...kSettings, lora_task: 'x' });
  await expect(open).rejects.toThrow(
    'Option lora_task is "x", and the model\'s tasks are retrieval.query, retrieval.passage, text-matching',
  );
  const bert = (await readTiny('bert-sequence')).files;
  await expect(pipeline('feature-extraction', bert, { ...kSettings, lora_task: 'x' })).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('a folder whose code applies an adapter for each task is refused, unless an adapter is named', async () => {
  const folder = fileURLToPath(new URL('../fixtures/sentence/eurobert-nano', import.meta.url));
  const files: Record<string, Uint8Array> = Object.fromEntries(filesOf(folder));
  const modules = JSON.parse(new TextDecoder().decode(files['modules.json'])) as { type: string }[];
  modules[0]!.type = 'custom_st.Transformer';
  const source = { ...files, 'modules.json': new TextEncoder().encode(JSON.stringify(modules)) };
  await expect(pipeline('feature-extraction', source, kSettings)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('custom_st.Transformer applies an adapter for each task'),
  });
});
