// The tiny checkpoint in three files (tests/fixtures/sharded), and damaged copies, for Node and browsers.
import { expect } from 'vitest';
import { type Files, type readTensors, tinyText } from './tiny.js';

export const kShards = [1, 2, 3].map((i) => `model-0000${i}-of-00003.safetensors`);
export const kShardedFiles = ['config.json', 'tokenizer.json', 'model.safetensors.index.json', ...kShards];

export async function readSharded(read: (name: string) => Promise<Uint8Array>): Promise<Files> {
  return Object.fromEntries(await Promise.all(kShardedFiles.map(async (name) => [name, await read(name)] as const)));
}

type Classify = (text: string, options: { top_k: null; function_to_apply: 'none' }) => Promise<{ label: string; score: number }[]>;

export async function checkLogits(classify: Classify, expected: ReturnType<typeof readTensors>): Promise<void> {
  for (const text of ['a', 'b', 'c', 'd']) {
    const logits = expected.get(`${text}.logits`)!;
    const labels = await classify(tinyText(expected.get(`${text}.input_ids`)!), { top_k: null, function_to_apply: 'none' });
    expect(labels).toHaveLength(logits.length);
    for (const { label, score } of labels) expect(Math.abs(score - logits[Number(label.slice(6))]!)).toBeLessThan(1e-5);
  }
}
