// Every task gives the results of transformers' pipelines (tests/fixtures/pipelines): labels, spans and texts exactly, scores to 1e-4.
import { afterAll, describe, expect, test } from 'vitest';
import { pipeline, type Task } from '../../web/dist/index_node.js';
import { pipelineModel, readFixture } from './support/pipeline_models.js';
import { renamedOptions } from './support/renamed_options.js';

interface Case {
  task: Task;
  head: string;
  config: Record<string, unknown>;
  inputs: unknown;
  options: Record<string, unknown>;
  expected: unknown;
}

const kTolerance = 1e-4;

function toUtf16(value: unknown, text: string): unknown {
  const units = [0];
  for (const char of text) units.push(units.at(-1)! + char.length);
  const convert = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(convert);
    if (typeof item !== 'object' || item === null) return item;
    const { start, end } = item as { start?: number; end?: number };
    return start === undefined || end === undefined ? item : { ...item, start: units[start], end: units[end] };
  };
  return convert(value);
}

function expectAlike(actual: unknown, expected: unknown, where: string): void {
  if (typeof expected === 'number' && typeof actual === 'number') {
    const tolerance = Number.isInteger(expected) && Number.isInteger(actual) ? 0 : kTolerance;
    expect(Math.abs(actual - expected), `${where}: ${actual} for ${expected}`).toBeLessThanOrEqual(tolerance);
  } else if (Array.isArray(expected)) {
    expect(Array.isArray(actual) ? actual.length : actual, where).toBe(expected.length);
    for (const [i, item] of expected.entries()) expectAlike((actual as unknown[])[i], item, `${where}[${i}]`);
  } else if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(actual as object).sort(), where).toEqual(Object.keys(expected).sort());
    for (const [key, item] of Object.entries(expected)) expectAlike((actual as Record<string, unknown>)[key], item, `${where}.${key}`);
  } else {
    expect(actual, where).toBe(expected);
  }
}

type AnyCall = (...args: unknown[]) => Promise<unknown>;

async function runCase(call: AnyCall, one: Case): Promise<[unknown, unknown]> {
  const { inputs } = one;
  const options = renamedOptions(one.options ?? {});
  if (one.task === 'feature-extraction') {
    const { dims, data } = (await call(inputs, options)) as { dims: number[]; data: Float32Array };
    if (!Array.isArray((one.expected as unknown[])[0])) return [Array.from(data), one.expected];
    const [tokens, size] = dims.slice(-2) as [number, number];
    const rows = Array.from({ length: tokens }, (_, row) => Array.from(data.subarray(row * size, row * size + 4)));
    return [rows, one.expected];
  }
  if (one.task === 'fill-mask' && /mask.*mask/i.test(inputs as string))
    return [await call(inputs, { ...options, all_masks: true }), one.expected];
  if (one.task === 'question-answering') {
    const found = await call(...(inputs as string[]), options);
    return [Array.isArray(found) ? found : [found], toUtf16(one.expected, (inputs as string[])[1]!)];
  }
  const isSeveral = Array.isArray(inputs);
  const result = isSeveral ? await call(...inputs, options) : await call(inputs, options);
  return [result, one.task === 'token-classification' ? toUtf16(one.expected, inputs as string) : one.expected];
}

describe.each(['convbert', 'deberta-v2', 'deberta'])('%s', async (family) => {
  const fixture = await readFixture<{ cases: Case[] }>(`pipelines/${family}/cases.json`);
  const opened = new Map<string, Promise<{ dispose(): Promise<void> }>>();
  afterAll(async () => {
    for (const made of opened.values()) await (await made).dispose();
  });

  const tasks = [...new Set(fixture.cases.map((one) => one.task))];
  test.each(tasks)(
    '%s',
    async (task) => {
      const cases = fixture.cases.filter((one) => one.task === task);
      expect(cases.length).toBeGreaterThan(0);
      for (const one of cases) {
        const key = JSON.stringify([task, one.head, one.config]);
        if (!opened.has(key)) opened.set(key, pipeline(task, await pipelineModel(family, one.head, one.config)));
        const call = (await opened.get(key)) as unknown as AnyCall;
        const [actual, expected] = await runCase(call, one);
        expectAlike(actual, expected, JSON.stringify([one.inputs, one.options]).slice(0, 200));
      }
    },
    60_000,
  );
});
