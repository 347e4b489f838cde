// A model on a server that counts requests, loaded through Node's cache into a fake engine.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { env } from '../../../web/src/env.js';
import { setRuntime } from '../../../web/src/platform/current.js';
import { nodeRuntime } from '../../../web/src/platform/platform_node.js';
import { resolveSource } from '../../../web/src/sources/source.js';
import { LocalHost } from '../../../web/src/worker/local_host.js';
import { nodeEngines } from '../../../web/src/worker/runtime_node.js';
import { type FakeRecord, fakeEngine } from './fake_engine.js';
import { type Content, type ModelServer, startModelServer } from './model_server.js';

export const kWeights = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 251);
export const kFiles = { 'config.json': '{"model_type":"fake"}', 'tokenizer.json': '{"model":{}}', 'model.safetensors': kWeights };
export const kDefaults = { ...env };
export const kAll = [...Object.keys(kFiles), 'tokenizer_config.json'].sort();

export let server: ModelServer;
export let folder: string;

export function modelAt(prefix: string): Record<string, Content> {
  return Object.fromEntries(Object.entries(kFiles).map(([name, content]) => [`${prefix}${name}`, content]));
}

export function serveAModel(): void {
  beforeEach(async () => {
    server = await startModelServer(
      { ...modelAt('m/'), ...modelAt('user/model/resolve/main/') },
      { 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT' },
    );
    folder = await mkdtemp(join(tmpdir(), 'peruse-cache-'));
    setRuntime(nodeRuntime);
    Object.assign(env, kDefaults, { remoteHost: server.url, cacheFolder: folder });
  });
  afterEach(async () => {
    Object.assign(env, kDefaults);
    await server.close();
    await rm(folder, { recursive: true, maxRetries: 10 }); // a failed load may still be closing files
  });
}

export async function load(
  source: string,
  options: { revision?: string; token?: string; offline?: boolean } = {},
  signal?: AbortSignal,
): Promise<FakeRecord> {
  let record: FakeRecord | undefined;
  const startEngine = async () => {
    const fake = fakeEngine(); // a load that is repeated starts an engine of its own
    record = fake.record;
    return fake.engine;
  };
  const host = new LocalHost(() => {}, { ...nodeEngines, startEngine });
  signal?.addEventListener('abort', () => host.dispose());
  const spec = await resolveSource(source, options, { baseUrl: () => undefined, findFolder: async () => undefined });
  try {
    await host.call('load', { task: { name: 't' }, dtype: 'f32', source: spec, choice: { variant: 'simd', threads: 1, reason: '' } });
  } catch (error) {
    host.dispose();
    throw error;
  }
  return record!;
}

export function expectWhole(record: FakeRecord): void {
  expect(Buffer.concat(record.weights).equals(kWeights)).toBe(true);
  expect(record.files.get('config.json')).toBe(kFiles['config.json']);
}

export function asked(): string[] {
  return server.calls
    .splice(0)
    .map(({ method, path }) => `${method} ${path.split('/').pop()}`)
    .sort();
}

export const gets = (names: readonly string[]) => names.map((name) => `GET ${name}`);
export const heads = (names: readonly string[]) => names.map((name) => `HEAD ${name}`);
