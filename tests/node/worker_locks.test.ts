// A worker in Node holds a lock file for each download until the load ends.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { env, pipeline } from '../../web/dist/index_node.js';
import { teach } from '../../web/dist/teach/index_node.js';
import { startModelServer } from './support/model_server.js';
import { readTiny } from './support/tiny_files.js';

const kLoads: Record<string, (url: string, signal: AbortSignal) => Promise<unknown>> = {
  load: (url, signal) => pipeline('text-classification', url, { worker: true, signal }),
  lesson: (url, signal) => {
    const examples = ['one', 'two'].map((label) => ({ text: `t1 ${label}`, label }));
    return teach('text-classification', url, examples, { signal });
  },
};

test.each([
  ['load', 'was aborted', true],
  ['load', 'failed', false],
  ['lesson', 'was aborted', true],
  ['lesson', 'failed', false],
])('a %s that %s leaves no lock that the next one would wait for', async (name, _, aborts) => {
  const { files } = await readTiny('deberta-v2-sequence');
  const server = await startModelServer({ 'm/config.json': files['config.json']!, 'm/tokenizer.json': files['tokenizer.json']! });
  const stop = new AbortController();
  server.files.set('m/model.safetensors', (__, response) => {
    if (!aborts) return void response.writeHead(401).end();
    response.writeHead(200, { 'content-length': 1000 }).write('begun', () => setTimeout(() => stop.abort(), 100));
  });
  const folder = mkdtempSync(join(tmpdir(), 'peruse-locks-'));
  const { cacheFolder } = env;
  env.cacheFolder = folder;
  try {
    await expect(kLoads[name]!(`${server.url}m/`, stop.signal)).rejects.toMatchObject({ code: aborts ? 'aborted' : 'unauthorized' });
    const locks = () => readdirSync(join(folder, 'v3')).filter((file) => file.endsWith('.lock'));
    await vi.waitFor(() => expect(locks()).toEqual([]), { timeout: 30_000, interval: 50 });
  } finally {
    env.cacheFolder = cacheFolder;
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
