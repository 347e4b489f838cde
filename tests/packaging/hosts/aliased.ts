// Tests of a bundler's alias: a program for transformers.js finds peruse/transformers under its name.
import { expect } from 'vitest';
import type { Visit } from '../../browser/page/visit.js';
import { kSharedApp, type Stage, stage } from './stage.js';

export const kAlias = { '@huggingface/transformers': 'peruse/transformers' };

export function stageAliased(name: string, version: string): Promise<Stage> {
  return stage(name, { version, shared: { 'index.html': kSharedApp['index.html'], 'main.js': 'packaging/app/aliased/main.js' } });
}

export function expectAliased({ result, elsewhere }: Pick<Visit, 'result' | 'elsewhere'>): void {
  expect(result).toEqual({ labels: [{ label: expect.any(String), score: expect.any(Number) }], dims: [2, 2] });
  expect(elsewhere).toEqual([]);
}
