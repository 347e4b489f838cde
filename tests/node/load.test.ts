import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { nodeWasm } from '../../web/src/engine/wasm_node.js';
import { PeruseError } from '../../web/src/errors.js';
import { patience } from '../../web/src/patience.js';
import type { ProgressInfo } from '../../web/src/progress.js';
import { DiskFolder } from '../../web/src/sources/file_access_node.js';
import type { SourceSpec } from '../../web/src/sources/source.js';
import { LocalHost } from '../../web/src/worker/local_host.js';
import { type FakeBehaviour, type FakeRecord, fakeEngine } from './support/fake_engine.js';
import { type ModelServer, startModelServer } from './support/model_server.js';

const kConfig = '{"model_type":"fake"}';
const kTokenizer = '{"model":{}}';
const kWeights = Uint8Array.from({ length: 300_000 }, (_, i) => i % 251);

let server: ModelServer;
let record: FakeRecord;
let progress: ProgressInfo[];
let host: LocalHost;

beforeEach(async () => {
  server = await startModelServer({
    'm/config.json': kConfig,
    'm/tokenizer.json': kTokenizer,
    'm/tokenizer_config.json': '{}',
    'm/model.safetensors': kWeights,
  });
  progress = [];
  host = newHost();
});
afterEach(() => server.close());

function newHost(behaviour: FakeBehaviour = {}): LocalHost {
  let fake = fakeEngine(behaviour);
  record = fake.record;
  let starts = 0;
  const startEngine = async () => {
    if (starts++ > 0) fake = fakeEngine(behaviour); // a load that is repeated starts an engine of its own
    record = fake.record;
    return fake.engine;
  };
  return new LocalHost((info) => progress.push(info), {
    ...nodeWasm,
    startEngine,
    openDiskFolder: (path) => new DiskFolder(path),
  });
}

function load(source: SourceSpec = { kind: 'url', name: 'm', base: `${server.url}m/` }) {
  return host.call('load', { task: { name: 't' }, dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } });
}

function weightsReceived(): Buffer {
  return Buffer.concat(record.weights);
}

describe('a good model', () => {
  test('reaches the engine whole and in order, from nothing but its own files', async () => {
    const report = await load();
    expect(record.files).toEqual(
      new Map([
        ['config.json', kConfig],
        ['tokenizer.json', kTokenizer],
        ['tokenizer_config.json', '{}'],
      ]),
    );
    expect(record.open).toEqual({ task: 't', dtype: 'f32' });
    expect(weightsReceived().equals(kWeights)).toBe(true);
    expect(report.bytes).toBe(kConfig.length + kTokenizer.length + 2 + kWeights.length);
    expect([...server.requests].sort()).toEqual(['m/config.json', 'm/model.safetensors', 'm/tokenizer.json', 'm/tokenizer_config.json']);
  });

  test('whose config.json names Python code loads as its model_type says, with a notice', async () => {
    server.files.set('m/config.json', '{"model_type":"fake","auto_map":{"AutoModel":"own.Model"}}');
    expect((await load()).notices).toEqual([expect.stringContaining('auto_map')]);
  });

  test('comes from a folder and from bytes just as well', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'peruse-test-'));
    try {
      await writeFile(join(folder, 'config.json'), kConfig);
      const tokenizer = JSON.stringify(Array.from({ length: 300_000 }, (_, i) => i)); // longer than a chunk
      await writeFile(join(folder, 'tokenizer.json'), tokenizer);
      await writeFile(join(folder, 'model.safetensors'), kWeights);
      host = newHost({ memory: 3 << 20 });
      await load({ kind: 'folder', name: folder, path: folder });
      expect(weightsReceived().equals(kWeights)).toBe(true);
      expect(record.files.get('tokenizer.json') === tokenizer).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
    host = newHost();
    const files = new Map<string, Uint8Array | Blob>([
      ['config.json', new TextEncoder().encode(kConfig)],
      ['tokenizer.json', new Blob([kTokenizer])],
      ['model.safetensors', new Blob([kWeights])],
    ]);
    await load({ kind: 'bytes', name: 'files', files });
    expect(weightsReceived().equals(kWeights)).toBe(true);
  });

  test('takes pytorch_model.bin where there is nothing better', async () => {
    server.files.set('m/pytorch_model.bin', 'not this one');
    await load();
    expect(weightsReceived().equals(kWeights)).toBe(true);
    server.files.delete('m/model.safetensors');
    server.files.set('m/pytorch_model.bin', kWeights);
    host = newHost();
    progress.length = 0;
    await load();
    expect(weightsReceived().equals(kWeights)).toBe(true);
    expect(progress.at(-1)).toMatchObject({ status: 'done', file: 'pytorch_model.bin' });
  });

  test('tells its progress in the words of transformers.js', async () => {
    await load();
    const ofWeights = progress.filter((info) => 'file' in info && info.file === 'model.safetensors');
    expect(ofWeights.slice(0, 2).map((info) => info.status)).toEqual(['initiate', 'download']);
    expect(ofWeights.at(-1)).toEqual({ status: 'done', name: 'm', file: 'model.safetensors' });
    const all = [...server.files.values()].reduce((sum: number, file) => sum + Buffer.from(file as Uint8Array | string).length, 0);
    expect(ofWeights.at(-2)).toEqual({
      status: 'progress',
      name: 'm',
      file: 'model.safetensors',
      progress: 100,
      loaded: kWeights.length,
      total: kWeights.length,
      overall: { progress: 100, loaded: all, total: all },
    });
  });

  test('may have vocab.txt instead of tokenizer.json, and no tokenizer_config.json', async () => {
    server.files.delete('m/tokenizer.json');
    server.files.delete('m/tokenizer_config.json');
    server.files.set('m/vocab.txt', '[PAD]\n');
    await load();
    expect([...record.files.keys()]).toEqual(['config.json', 'vocab.txt']);
  });

  test('may have vocab.json with merges.txt, and then needs both', async () => {
    server.files.delete('m/tokenizer.json');
    server.files.set('m/vocab.json', '{}');
    await expect(load()).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('merges.txt') });
    server.files.set('m/merges.txt', '#version');
    server.files.set('m/added_tokens.json', '{}');
    host = newHost();
    await load();
    expect([...record.files.keys()].sort()).toEqual([
      'added_tokens.json',
      'config.json',
      'merges.txt',
      'tokenizer_config.json',
      'vocab.json',
    ]);
  });

  test("may be served compressed: the announced length is then not the file's", async () => {
    const { gzipSync } = await import('node:zlib');
    const body = gzipSync(kConfig);
    server.files.set('m/config.json', (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip', 'content-length': body.length }).end(body);
    });
    await load();
    expect(record.files.get('config.json')).toBe(kConfig);
  });

  test('is found behind an address with a query', async () => {
    await load({ kind: 'url', name: 'm', base: `${server.url}m/?token=1` });
    expect(server.requests).toContain('m/config.json');
  });
});

describe('a bad source', () => {
  const kCases: [string, (files: ModelServer['files']) => void, string, RegExp][] = [
    ['no config.json', (f) => f.delete('m/config.json'), 'not_found', /m\/config\.json \(the server answered 404\)/],
    [
      'no vocabulary',
      (f) => f.delete('m/tokenizer.json'),
      'not_found',
      /neither tokenizer\.json nor vocab\.txt nor spm\.model nor .*vocab\.json in http.*\/m\/ \(the server answered 404\)/,
    ],
    [
      'no weights',
      (f) => f.delete('m/model.safetensors'),
      'not_found',
      /Found neither model\.safetensors nor pytorch_model\.bin in http.* \(/,
    ],
    [
      'a page for every address',
      (f) => {
        for (const name of f.keys())
          f.set(name, (_, r) => {
            r.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
          });
      },
      'not_found',
      /config\.json \(the server answered with an HTML page\)/,
    ],
    [
      'a page that claims to be JSON',
      (f) => f.set('m/config.json', '\n<!doctype html><title>Not found</title>'),
      'malformed_file',
      /config\.json is an HTML page/,
    ],
    [
      'a server error',
      (f) =>
        f.set('m/config.json', (_, r) => {
          r.writeHead(503).end();
        }),
      'network',
      /config\.json: the server answered 503/,
    ],
    [
      'a gated model',
      (f) =>
        f.set('m/config.json', (_, r) => {
          r.writeHead(401).end();
        }),
      'unauthorized',
      /config\.json: the server answered 401: this address requires a permission/,
    ],
    [
      'a connection that breaks',
      (f) =>
        f.set('m/model.safetensors', (_, r) => {
          r.writeHead(200, { 'content-length': 1000 });
          r.write(new Uint8Array(10), () => r.destroy());
        }),
      'network',
      /model\.safetensors: the connection broke after 10 of 1000 bytes/,
    ],
  ];

  const { retries } = patience;
  beforeEach(() => {
    patience.retries = [1, 1, 1];
  });
  afterEach(() => {
    patience.retries = retries;
  });

  test.each(kCases)('%s is one clear error', async (_, spoil, code, message) => {
    spoil(server.files);
    await expect(load()).rejects.toMatchObject({ name: 'PeruseError', code, message: expect.stringMatching(message) });
    await expect.poll(() => record.deleted).toBe(true);
  });

  test('a server that is not there', async () => {
    const base = `${server.url}m/`;
    await server.close();
    await expect(load({ kind: 'url', name: 'm', base })).rejects.toMatchObject({ code: 'network', message: expect.stringContaining(base) });
  });

  test('a body that ends early without breaking the connection', async () => {
    vi.stubGlobal('fetch', async () => new Response('{}', { headers: { 'content-length': '100', 'content-type': 'application/json' } }));
    try {
      await expect(load()).rejects.toMatchObject({
        code: 'truncated_file',
        message: expect.stringContaining('ended after 2 bytes; the server announced 100'),
      });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('a folder without the files, and a file that is a folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'peruse-test-'));
    try {
      await expect(load({ kind: 'folder', name: folder, path: folder })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('there is no such file'),
      });
      await mkdir(join(folder, 'config.json'));
      await expect(load({ kind: 'folder', name: folder, path: folder })).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringContaining('not a file'),
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('bytes without the files name those that were given', async () => {
    const files = new Map([['a.txt', new Uint8Array(1)]]);
    await expect(load({ kind: 'bytes', name: 'f', files })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('a.txt'),
    });
  });
});

describe('the engine refuses', () => {
  test.each(['addFile', 'open', 'feedWeights', 'finishWeights'] as const)('in %s: its error reaches the caller', async (method) => {
    host = newHost({ replies: { [method]: { ok: false, code: 'malformed_file', message: 'the file is bad' } } });
    const named = method === 'feedWeights' ? 'model.safetensors: ' : '';
    await expect(load()).rejects.toMatchObject({ code: 'malformed_file', message: `${named}The file is bad.` });
  });

  test('an unsupported model before any weights are fetched', async () => {
    host = newHost({ replies: { open: { ok: false, code: 'unsupported', message: 'gpt2' } } });
    await expect(load()).rejects.toMatchObject({ code: 'unsupported' });
    expect(server.requests).not.toContain('m/model.safetensors');
  });

  test('for want of memory', async () => {
    host = newHost({ memory: 1000 });
    await expect(load()).rejects.toMatchObject({ code: 'out_of_memory', message: expect.stringContaining('the weights') });
  });

  test('by trapping: the engine takes no more calls', async () => {
    host = newHost({ traps: 'start' });
    await load();
    const request = { inputs: [{ text: 'x' }], options: {} };
    await expect(host.call('run', request)).rejects.toMatchObject({ code: 'worker_died', message: expect.stringContaining('unreachable') });
    await expect(host.call('run', request)).rejects.toMatchObject({ code: 'worker_died' });
  });
});

test('an engine that can not start is the error, even while files are still on their way', async () => {
  server.files.set('m/tokenizer.json', (_, response) => {
    setTimeout(() => response.writeHead(404).end(), 100);
  });
  server.files.set('m/config.json', (_, response) => {
    setTimeout(() => response.writeHead(404).end(), 100);
  });
  host = new LocalHost(() => {}, {
    ...nodeWasm,
    startEngine: async () => {
      throw new PeruseError('no_wasm', 'no wasm here');
    },
  });
  await expect(load()).rejects.toMatchObject({ code: 'no_wasm' });
});

test('a load that failed ends the requests that are still under way', async () => {
  const ended = new Promise((resolve) => {
    server.files.set('m/tokenizer.json', (_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{');
      resolve(once(response, 'close'));
      begun();
    });
  });
  let begun = () => {};
  const asked = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const startEngine = async () => {
    await asked;
    throw new PeruseError('no_wasm', 'no wasm here');
  };
  host = new LocalHost(() => {}, { ...nodeWasm, startEngine });
  await expect(load()).rejects.toMatchObject({ code: 'no_wasm' });
  await ended;
});

test('a model on a GPU is loaded again after its engine has failed, and only then', async () => {
  let starts = 0;
  const startEngine = async () => {
    const { engine } = fakeEngine(starts++ === 0 ? { traps: 'start' } : {});
    return Object.assign(engine, { deviceChoice: { device: 'webgpu' } });
  };
  host = new LocalHost(() => {}, { ...nodeWasm, startEngine });
  await load();
  const run = () => host.call('run', { inputs: [{ text: 'x' }], options: {} });
  await expect(run()).rejects.toMatchObject({ code: 'worker_died' });
  expect(starts).toBe(1);
  for (let time = 0; time < 2; time++) expect(await run()).toHaveLength(1);
  expect(starts).toBe(2);
});

describe('running', () => {
  test('text reaches the engine as the caller wrote it, lone surrogates replaced', async () => {
    await load();
    await host.call('run', { inputs: [{ text: 'a\0\u{1F600}\uD83D"\\' }], options: { top_k: null } });
    expect(record.requests).toEqual([{ inputs: [{ text: 'a\0\u{1F600}\uFFFD"\\' }], options: { top_k: null } }]);
  });

  test('runs take turns, and each gets its own results', async () => {
    host = newHost({ steps: 3 });
    await load();
    const run = (n: number) => host.call('run', { inputs: Array.from({ length: n }, () => ({ text: 'x' })), options: {} });
    const results = await Promise.all([run(1), run(2), run(3)]);
    expect(results.map((list) => list.length)).toEqual([1, 2, 3]);
  });

  test('a signal stops a run between batches', async () => {
    host = newHost({ steps: 1e9 });
    await load();
    const controller = new AbortController();
    const run = host.call('run', { inputs: [{ text: 'x' }], options: {} }, controller.signal);
    setTimeout(() => controller.abort(), 10);
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
  });

  test('disposing cancels a load that is under way and a run', async () => {
    server.files.set('m/model.safetensors', (_, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('x');
    });
    const loading = load();
    await expect.poll(() => server.requests).toContain('m/model.safetensors');
    host.dispose();
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    await expect.poll(() => record.deleted).toBe(true);
  });
});
