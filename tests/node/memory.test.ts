// The engine's memory is little more than weights and the workspace of the largest call.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startCpuBuild } from '../../web/src/engine/cpu_engine.js';
import { Engine, type EngineModule, type WeightReport } from '../../web/src/engine/engine.js';
import { nodeWasm } from '../../web/src/engine/wasm_node.js';
import { checkpointChunks } from '../bench/lib/checkpoint.mjs';

const kRoot = join(import.meta.dirname, '../..');
const kTiny = join(kRoot, 'models/peruse-sentiment-convbert-tiny');

const kMegabyte = 1 << 20;

async function startModule(): Promise<EngineModule> {
  return (await startCpuBuild({ choice: { variant: 'simd', threads: 1, reason: '' }, builds: nodeWasm })).module;
}

function load(module: EngineModule, config: string, weights: Iterable<Uint8Array>): { engine: Engine; report: WeightReport } {
  const engine = new Engine(module, 1);
  engine.addFile('config.json', new TextEncoder().encode(config));
  engine.addFile('tokenizer.json', readFileSync(join(kTiny, 'tokenizer.json')));
  engine.open({ task: 'text-classification', dtype: 'f32' });
  for (const chunk of weights) void engine.feedWeights(chunk);
  return { engine, report: engine.finishWeights() as WeightReport };
}

function loadTiny(module: EngineModule): Engine {
  return load(module, readFileSync(join(kTiny, 'config.json'), 'utf8'), [readFileSync(join(kTiny, 'model.safetensors'))]).engine;
}

function call(engine: Engine, words: number): void {
  engine.start({ inputs: [{ text: 'film '.repeat(words) }], options: {} });
  while (engine.step() === true);
  expect(engine.take()).toHaveLength(1);
}

// Two layers of DeBERTa v3 base. The workspace does not grow with the number of layers.
test('after loading, the heap is the weights and a tenth, and a call of 384 tokens adds less than 64 MB', async () => {
  const shape = JSON.parse(readFileSync(join(kRoot, 'tests/bench/shapes/deberta_v3_base.json'), 'utf8')) as Record<string, unknown>;
  const config = { ...shape, num_hidden_layers: 2, vocab_size: 30_000 };
  const module = await startModule();
  const { engine, report } = load(module, JSON.stringify(config), checkpointChunks(config));
  const loaded = engine.heapBytes();
  call(engine, 382);
  const afterCall = engine.heapBytes();
  console.log(`weights ${report.weightBytes / kMegabyte} MB, heap ${loaded / kMegabyte} MB, after a call ${afterCall / kMegabyte} MB`);
  const kFoldingArena = 16 * kMegabyte; // workspace for folding relative positions, which calls reuse
  expect(report.weightBytes).toBeGreaterThan(140 * kMegabyte);
  expect(loaded).toBeLessThan(1.1 * report.weightBytes + kFoldingArena);
  expect(afterCall - report.weightBytes).toBeLessThan(64 * kMegabyte);
  engine.dispose();
});

// A layer over all keys and one over a band of them. A matrix of the scores of all pairs of tokens would take 268 MB for each head.
test('a ModernBERT of width 128 reads 8,192 tokens in less than 96 MB, without a matrix of all pairs of tokens', async () => {
  const shape = JSON.parse(readFileSync(join(kRoot, 'tests/bench/shapes/modernbert_base.json'), 'utf8')) as Record<string, unknown>;
  const config = { ...shape, num_hidden_layers: 2, vocab_size: 30_000, hidden_size: 128, num_attention_heads: 2, intermediate_size: 192 };
  const module = await startModule();
  const { engine } = load(module, JSON.stringify(config), checkpointChunks(config));
  const loaded = engine.heapBytes();
  call(engine, 8190);
  const workspace = engine.heapBytes() - loaded;
  console.log(`8,192 tokens: ${workspace / kMegabyte} MB`);
  expect(workspace).toBeLessThan(96 * kMegabyte);
  engine.dispose();
}, 300_000);

test('a thousand calls of random lengths leave the heap as the longest one made it', async () => {
  const engine = loadTiny(await startModule());
  call(engine, 120);
  const level = engine.heapBytes();
  let state = 1;
  for (let i = 0; i < 1000; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    call(engine, 1 + ((state >>> 16) % (i % 20 === 0 ? 120 : 12)));
  }
  expect(engine.heapBytes()).toBe(level);
  engine.dispose();
});

test('a text takes at most 32 times its size, and one of 50 MB is refused', async () => {
  const engine = loadTiny(await startModule());
  const level = engine.heapBytes();
  const text = (megabytes: number) => 'old film '.repeat((megabytes * kMegabyte) / 9);
  engine.start({ inputs: [{ text: text(2) }], options: { truncation: true } });
  const after = engine.heapBytes();
  expect(after - level).toBeLessThan(2 * 32 * kMegabyte);
  expect(() => engine.start({ inputs: [{ text: text(50) }], options: { truncation: true } })).toThrow(/32 MB at a time/);
  expect(engine.heapBytes() - after).toBeLessThan(2 * 50 * kMegabyte);
  call(engine, 5);
  engine.dispose();
});

test('loading and disposing a hundred times ends at the first level', async () => {
  const module = await startModule();
  const cycle = (): void => {
    const engine = loadTiny(module);
    call(engine, 20);
    engine.dispose();
  };
  cycle();
  const level = module.HEAPU8.length;
  for (let i = 1; i < 100; ++i) cycle();
  expect(module.HEAPU8.length).toBe(level);
}, 300_000); // 7 seconds, or minutes on a busy machine
