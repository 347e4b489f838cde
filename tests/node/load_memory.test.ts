// Peak memory of a load is at most 1.25 times the weights plus 16 MB. The checkpoint of 200 MB is generated while it is served. The heap never
// shrinks, so its final size is the peak.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { env, pipeline } from '../../web/dist/index_node.js';
import { type ModelServer, startModelServer } from './support/model_server.js';
import { tinyTokenizer } from './support/tiny.js';

const kVocab = 20_000;
const kLayers = 6;
const kConfig = {
  model_type: 'convbert',
  architectures: ['ConvBertModel'],
  vocab_size: kVocab,
  num_hidden_layers: kLayers,
  hidden_size: 768,
  embedding_size: 768,
};

function tensors(): [string, number[]][] {
  const list: [string, number[]][] = [];
  const linear = (name: string, from: number, to: number) => list.push([`${name}.weight`, [to, from]], [`${name}.bias`, [to]]);
  const norm = (name: string) => list.push([`${name}.weight`, [768]], [`${name}.bias`, [768]]);
  list.push(['embeddings.word_embeddings.weight', [kVocab, 768]]);
  list.push(['embeddings.position_embeddings.weight', [512, 768]], ['embeddings.token_type_embeddings.weight', [2, 768]]);
  norm('embeddings.LayerNorm');
  for (let i = 0; i < kLayers; ++i) {
    const layer = `encoder.layer.${i}`;
    const self = `${layer}.attention.self`;
    for (const part of ['query', 'key', 'value', 'conv_out_layer']) linear(`${self}.${part}`, 768, 384);
    list.push(
      [`${self}.key_conv_attn_layer.depthwise.weight`, [768, 1, 9]],
      [`${self}.key_conv_attn_layer.pointwise.weight`, [384, 768, 1]],
    );
    list.push([`${self}.key_conv_attn_layer.bias`, [384, 1]]);
    linear(`${self}.conv_kernel_layer`, 384, 6 * 9);
    linear(`${layer}.attention.output.dense`, 768, 768);
    norm(`${layer}.attention.output.LayerNorm`);
    linear(`${layer}.intermediate.dense`, 768, 3072);
    linear(`${layer}.output.dense`, 3072, 768);
    norm(`${layer}.output.LayerNorm`);
  }
  return list;
}

function header(): { start: Uint8Array; body: number } {
  let end = 0;
  const entries = tensors().map(([name, shape]) => {
    const start = end;
    end += 4 * shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: 'F32', shape, data_offsets: [start, end] }] as const;
  });
  const json = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const start = Buffer.alloc(8 + json.length);
  start.writeBigUInt64LE(BigInt(json.length));
  json.copy(start, 8);
  return { start, body: end };
}

async function serveWeights(response: ServerResponse): Promise<void> {
  const { start, body } = header();
  response.writeHead(200, { 'content-length': start.length + body }).write(start);
  const chunk = Buffer.alloc(1 << 20, 0x3c); // finite floats
  for (let left = body; left > 0; left -= chunk.length) {
    if (!response.write(chunk.subarray(0, Math.min(left, chunk.length)))) await once(response, 'drain');
  }
  response.end();
}

let server: ModelServer;
beforeAll(async () => {
  env.cache = false; // does not write to disk
  server = await startModelServer({
    'config.json': JSON.stringify(kConfig),
    'tokenizer.json': tinyTokenizer(kVocab),
    'model.safetensors': (_, response) => {
      void serveWeights(response);
    },
  });
});
afterAll(() => server.close());

test.each([
  ['fp32', 1],
  ['fp16', 0.5],
] as const)('%s: the peak stays near the weights', async (dtype, share) => {
  const { body } = header();
  expect(body).toBeGreaterThan(190e6);
  const extract = await pipeline('feature-extraction', server.url, { dtype, threads: 1 });
  const { heapBytes, weightBytes } = await extract.memory();
  expect(weightBytes).toBeLessThan(1.02 * share * body);
  expect(weightBytes).toBeGreaterThan(0.9 * share * body);
  expect(heapBytes, `${weightBytes} bytes of weights`).toBeLessThan(1.25 * weightBytes + 16e6);
  expect((await extract('t1 t2', { pooling: 'cls' })).dims).toEqual([1, 768]);
  await extract.dispose();
});
