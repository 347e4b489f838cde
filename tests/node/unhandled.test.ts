// If a load fails or is aborted while it reads several files, every rejected promise has a handler: an unhandled rejection would end the
// caller's process. Vitest fails a run that has one.
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { nodeWasm } from '../../web/src/engine/wasm_node.js';
import { PeruseError, throwIfAborted } from '../../web/src/errors.js';
import type { ModelFolder } from '../../web/src/sources/source.js';
import { engineTask, type Task } from '../../web/src/tasks/tasks.js';
import { LocalHost } from '../../web/src/worker/local_host.js';
import { fakeEngine } from './support/fake_engine.js';

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', note));
beforeEach(() => {
  unhandled.length = 0;
});
afterAll(() => process.off('unhandledRejection', note));

const kModules = JSON.stringify(
  ['Transformer', 'Pooling', 'Dense', 'Normalize'].map((type, index) => ({
    path: index === 0 ? '' : `${index}_${type}`,
    type: `sentence_transformers.models.${type}`,
  })),
);

const kFolders: Record<string, Record<string, string>> = {
  'feature-extraction': {
    'config.json': '{"model_type":"fake"}',
    'modules.json': kModules,
    'config_sentence_transformers.json': '{}',
    'sentence_bert_config.json': '{}',
    '1_Pooling/config.json': '{}',
    '2_Dense/config.json': '{}',
    '2_Dense/model.safetensors': 'w',
    'vocab.json': '{}',
    'merges.txt': '',
    'tokenizer_config.json': '{}',
    'model.safetensors': 'w',
  },
  'zero-shot-token-classification': {
    'gliner_config.json': '{"model_name":"encoder","labels_encoder":"labels","encoder_config":{},"labels_encoder_config":{}}',
    'tokenizer.json': '{}',
    'tokenizer_config.json': '{}',
    'labels_tokenizer/tokenizer.json': '{}',
    'labels_tokenizer/tokenizer_config.json': '{}',
    'pytorch_model.bin': 'w',
  },
};

/** A folder whose files arrive at different times. `onOpen` gets the number of the opening, and may throw. */
function slowFolder(files: Record<string, string>, onOpen: (count: number, file: string) => void): ModelFolder {
  let opened = 0;
  return {
    async open(file, signal) {
      const count = opened++;
      onOpen(count, file);
      await wait((count * 7) % 5); // some replies overtake earlier ones
      throwIfAborted(signal);
      const content = files[file];
      if (content === undefined) return { found: false, where: file, why: 'it is not there' };
      const chunks = async function* () {
        await wait((count * 3) % 4);
        throwIfAborted(signal);
        yield new TextEncoder().encode(content);
      };
      return { found: true, where: file, size: content.length, chunks, close: async () => {} };
    },
  };
}

async function load(task: string, files: Record<string, string>, onOpen: (host: LocalHost, count: number, file: string) => void) {
  let openings = 0;
  const open = (): ModelFolder =>
    slowFolder(files, (count, file) => {
      openings = count + 1;
      onOpen(host, count, file);
    });
  const startEngine = async () => fakeEngine().engine;
  const host: LocalHost = new LocalHost(() => {}, { ...nodeWasm, startEngine, openDiskFolder: open });
  const source = { kind: 'folder', name: 'm', path: 'm' } as const;
  const request = { task: engineTask(task as Task), dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } } as const;
  const code = await host.call('load', request).then(
    () => 'loaded',
    (error: PeruseError) => error.code,
  );
  await wait(12); // all pending replies have arrived
  return { openings, code };
}

test.each(Object.keys(kFolders))('%s: any file that fails, at any moment', async (task) => {
  const { openings, code } = await load(task, kFolders[task]!, () => {});
  expect(code).toBe('loaded');
  expect(openings).toBeGreaterThan(6);
  for (let failing = 0; failing < openings; ++failing) {
    const { code: failed } = await load(task, kFolders[task]!, (_, count) => {
      if (count === failing) throw new PeruseError('network', 'no connection');
    });
    expect(failed, `opening ${failing}`).toBe('network');
  }
  expect(unhandled).toEqual([]);
});

test.each(Object.keys(kFolders))('%s: any file that is missing', async (task) => {
  for (const missing of Object.keys(kFolders[task]!)) {
    const { [missing]: _, ...files } = kFolders[task]!;
    await load(task, files, () => {});
  }
  expect(unhandled).toEqual([]);
});

test.each(Object.keys(kFolders))('%s: an abort at any moment', async (task) => {
  const { openings } = await load(task, kFolders[task]!, () => {});
  for (let last = 0; last < openings; ++last) {
    const { code } = await load(task, kFolders[task]!, (host, count) => {
      if (count === last) host.dispose();
    });
    expect(code, `opening ${last}`).toBe('aborted');
  }
  expect(unhandled).toEqual([]);
});

test.each(Object.keys(kFolders))('%s: a load that fails ends all its other reads', async (task) => {
  const { openings } = await load(task, kFolders[task]!, () => {});
  for (let failing = 0; failing < openings; ++failing) {
    const signals: AbortSignal[] = [];
    const folder = slowFolder(kFolders[task]!, (count) => {
      if (count === failing) throw new PeruseError('network', 'no connection');
    });
    const watched: ModelFolder = {
      open(file, signal) {
        signals.push(signal);
        return folder.open(file, signal);
      },
    };
    const host = new LocalHost(() => {}, { ...nodeWasm, startEngine: async () => fakeEngine().engine, openDiskFolder: () => watched });
    const source = { kind: 'folder', name: 'm', path: 'm' } as const;
    const request = { task: engineTask(task as Task), dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } } as const;
    await expect(host.call('load', request)).rejects.toMatchObject({ code: 'network' });
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  }
});
