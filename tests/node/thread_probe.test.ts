import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { fewestFast, threadsThatHelp } from '../../web/src/engine/cpu_engine.js';
import type { EngineModule, Session } from '../../web/src/engine/engine.js';

function choose(times: Record<number, number>): Promise<number> {
  return fewestFast(Math.max(...Object.keys(times).map(Number)), async (threads) => times[threads]!);
}

test.each<[string, Record<number, number>, number]>([
  ['two processors of one core', { 1: 1, 2: 1.23 }, 1],
  ['two that give almost nothing', { 1: 1, 2: 0.97 }, 1],
  ['two cores', { 1: 1, 2: 0.6 }, 2],
  ['four cores', { 1: 1, 2: 0.6, 4: 0.4 }, 4],
  ['two cores with two threads each', { 1: 1, 2: 0.6, 4: 0.62 }, 2],
  ['four threads of which only all together help', { 1: 1, 2: 1.1, 4: 0.7 }, 4],
  ['three', { 1: 1, 3: 0.5 }, 3],
  ['one', { 1: 1 }, 1],
])('%s', async (_, times, expected) => expect(await choose(times)).toBe(expected));

test('one slow moment does not decide', async () => {
  const times = { 1: [1, 1], 2: [5, 0.6] };
  expect(await fewestFast(2, async (threads) => times[threads as 1 | 2].shift() ?? 1)).toBe(2);
});

/** A module whose sessions only run probes. `sessions` lists their threads; while `fails` is set, probes fail. */
function probingModule() {
  const state = { sessions: [] as number[], fails: false };
  const module = { HEAPU8: new Uint8Array(1 << 12) } as EngineModule;
  module.Session = class {
    constructor(threads: number) {
      state.sessions.push(threads);
    }
    reserve = () => 64;
    addFile = () => '{"ok":true}';
    probe = () => (state.fails ? '{"ok":false,"code":"out_of_memory","message":"No memory."}' : '{"ok":true,"layers":1}');
    delete = () => undefined;
  } as unknown as new () => Session;
  return { module, state };
}

test('a thread measures once, or again after a failure', async () => {
  const { module, state } = probingModule();
  const measured = new Map<number, Promise<number>>();
  state.fails = true;
  await expect(threadsThatHelp(module, 2, measured)).rejects.toThrow('No memory.');
  state.fails = false;
  const both = await Promise.all([threadsThatHelp(module, 2, measured), threadsThatHelp(module, 2, measured)]);
  const made = state.sessions.length;
  expect(made).toBeGreaterThan(1);
  expect(await threadsThatHelp(module, 2, measured)).toBe(both[0]);
  expect(both[1]).toBe(both[0]);
  expect(state.sessions).toHaveLength(made);
  await threadsThatHelp(module, 1, measured);
  expect(state.sessions).toHaveLength(made + 1);
});

const kModel = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

test.each([false, true])('the answer is the same, whatever was chosen; in a worker: %s', async (worker) => {
  const answers: unknown[] = [];
  for (const options of [{}, { threads: 1 }, { threads: 2 }]) {
    const classify = await pipeline('text-classification', kModel, { ...options, worker });
    expect(classify.info.threads).toBeLessThanOrEqual(4);
    if ('threads' in options) expect(classify.info.threads).toBe(options.threads);
    if (/did not help/.test(classify.info.reason)) expect(classify.info.threads).toBeLessThan(4);
    answers.push(await classify('A gem.', { top_k: null }));
    await classify.dispose();
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
});
