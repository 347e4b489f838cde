// The calls that transformers.js's own tests check, with the results of transformers.js 4.3.2 (tests/fixtures/transformers_js). The cases that differ,
// and why, are listed here and in docs/coming-from-transformers-js.md.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as peruse from '../../web/dist/transformers/index_node.js';
import {
  kPipelineCases,
  kTokenizerCases,
  type PipelineCase,
  runPipelineCase,
  runTokenizerCase,
} from '../reference/transformers_js_cases.mjs';

const folder = fileURLToPath(new URL('../fixtures/transformers_js/', import.meta.url));
const expected = JSON.parse(readFileSync(`${folder}expected.json`, 'utf8')) as Record<
  'pipelines' | 'tokenizers',
  Record<string, unknown>
> & {
  version: string;
};
const kDocs = readFileSync(new URL('../../docs/coming-from-transformers-js.md', import.meta.url), 'utf8');
const kTolerance = 1e-5;

/** Cases that differ, and the words of the porting page that say why. */
const kDifferent: Record<string, string> = {
  'token-classification: an unsupported strategy': "`aggregation_strategy: 'first'`",
  'feature-extraction: two texts, without pooling': '`feature-extraction` of several texts without pooling',
};

const before = { localModelPath: peruse.env.localModelPath, offline: peruse.env.offline };
beforeAll(() => {
  Object.assign(peruse.env, { localModelPath: folder, offline: true });
});
afterAll(() => {
  Object.assign(peruse.env, before);
});

/** Whether the result has everything that transformers.js returns; numbers to 1e-5. Positions and offsets are more than it returns. */
function equal(found: unknown, wanted: unknown): boolean {
  if (typeof wanted === 'number') return typeof found === 'number' && Math.abs(found - wanted) <= kTolerance;
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null || Array.isArray(found) !== Array.isArray(wanted)) return false;
  const names = Object.keys(wanted);
  if (Array.isArray(wanted) && names.length !== Object.keys(found).length) return false;
  return names.every((name) => equal((found as Record<string, unknown>)[name], (wanted as Record<string, unknown>)[name]));
}

function check(name: string, found: unknown, wanted: unknown): void {
  expect(wanted, `${name} has no result of transformers.js`).toBeDefined();
  if (!Object.hasOwn(kDifferent, name))
    expect(found).toSatisfy((one) => equal(one, wanted), `${name}: ${JSON.stringify(wanted).slice(0, 400)}`);
  else expect(equal(found, wanted), `${name} is equal now`).toBe(false);
}

describe('pipelines', () => {
  test.each(kPipelineCases.map((one): [string, PipelineCase] => [one.name, one]))('%s', async (name, one) => {
    check(name, await runPipelineCase(peruse, one, { worker: false, variant: 'simd' }), expected.pipelines[name]);
  });
});

describe('tokenizers', () => {
  test.each(kTokenizerCases.map((one) => [one.name, one] as const))('%s', async (name, one) => {
    check(name, await runTokenizerCase(peruse, one, {}), expected.tokenizers[name]);
  });
});

test('42 of 44 pipelines and all 20 tokenizer calls are equal, and the page has a reason for each other', () => {
  const all = [...kPipelineCases, ...kTokenizerCases].map(({ name }) => name);
  expect([kPipelineCases.length, kTokenizerCases.length]).toEqual([44, 20]);
  for (const [name, reason] of Object.entries(kDifferent)) {
    expect(all).toContain(name);
    expect(kDocs).toContain(reason);
  }
  expect(kPipelineCases.filter(({ name }) => !Object.hasOwn(kDifferent, name))).toHaveLength(42);
  expect(kTokenizerCases.filter(({ name }) => Object.hasOwn(kDifferent, name))).toEqual([]);
  expect(kDocs).toContain(`transformers.js ${expected.version}: 42 of 44 calls of pipelines and 20 of 20 calls of tokenizers`);
});
