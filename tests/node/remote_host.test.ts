import { describe, expect, test, vi } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { nodeWasm } from '../../web/src/engine/wasm_node.js';
import { describeError, fromSentError, PeruseError, toSentError } from '../../web/src/errors.js';
import type { WorkerMessage, WorkerPort, WorkerRequest } from '../../web/src/worker/messages.js';
import { RemoteHost } from '../../web/src/worker/remote_host.js';
import { serve } from '../../web/src/worker/serve.js';
import { type FakeBehaviour, fakeEngine } from './support/fake_engine.js';

const kRun = { inputs: [{ text: 'x' }], options: {} };
const kFiles = new Map([
  ['config.json', new TextEncoder().encode('{}')],
  ['tokenizer.json', new Uint8Array(2)],
  ['model.safetensors', new Uint8Array(8)],
]);
const kLoad = {
  task: { name: 't' },
  dtype: 'f32' as const,
  choice: { variant: 'simd' as const, threads: 1, reason: '' },
  source: { kind: 'bytes' as const, name: 'files', files: kFiles },
};

/** A port to serve() in this thread, which clones messages like a worker's. */
function connected(behaviour: FakeBehaviour = {}) {
  let toHost: (message: WorkerMessage) => void = () => {};
  let toWorker: (request: WorkerRequest) => void = () => {};
  let die: (reason: string) => void = () => {};
  const port: WorkerPort = {
    post: (message) => {
      const copy = structuredClone(message);
      queueMicrotask(() => toWorker(copy));
    },
    onMessage: (listener) => {
      toHost = listener;
    },
    onDeath: (listener) => {
      die = listener;
    },
    terminate: vi.fn(),
  };
  serve(
    (message) => {
      const copy = structuredClone(message);
      queueMicrotask(() => toHost(copy));
    },
    (listener) => {
      toWorker = listener;
    },
    { ...nodeWasm, startEngine: async () => fakeEngine(behaviour).engine },
  );
  const progress = vi.fn();
  return { host: new RemoteHost(port, progress), port, progress, die: (reason: string) => die(reason) };
}

describe('RemoteHost', () => {
  test('carries the verbs and the progress', async () => {
    const { host, progress } = connected();
    expect(await host.call('load', kLoad)).toMatchObject({ bytes: 12, weights: { architecture: 'Fake' } });
    expect(progress).toHaveBeenCalledWith({ status: 'done', name: 'files', file: 'config.json' });
    expect(await host.call('run', kRun)).toEqual([[{ label: 'L0', score: 1 }]]);
    expect(await host.call('memory', null)).toMatchObject({ weightBytes: 4 });
  });

  test('rebuilds errors as PeruseError with their code', async () => {
    const { host } = connected({ replies: { start: { ok: false, code: 'empty_text', message: 'no text' } } });
    await host.call('load', kLoad);
    const error = await host.call('run', kRun).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PeruseError);
    expect(error).toMatchObject({ code: 'empty_text', message: 'No text.' });
  });

  test('keeps the cause of an error from a worker: name, message, code and stack, also of its own cause', async () => {
    const error: unknown = await pipeline('text-classification', 'http://127.0.0.1:59999/model/', { worker: true }).catch(
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(PeruseError);
    const { cause } = error as { cause: Error & { cause: Error } };
    expect(cause).toMatchObject({ name: 'TypeError', message: 'fetch failed', stack: expect.stringContaining('TypeError: fetch failed') });
    expect(cause.cause).toMatchObject({ code: 'ECONNREFUSED', message: expect.stringContaining('127.0.0.1:59999') });
    expect(cause.cause).toBeInstanceOf(Error);
  });

  test('copies causes of any kind, and ends where an error is its own cause', () => {
    const circle = new Error('round');
    circle.cause = circle;
    const sent = (cause: unknown) => fromSentError(structuredClone(toSentError(new PeruseError('internal', 'So.', { cause }))));
    expect(sent('words').cause).toMatchObject({ message: 'words' });
    expect(sent(() => {}).cause).toMatchObject({ message: 'a function' });
    expect(sent(Object.assign(new Error('a'), { code: () => {} })).cause).not.toHaveProperty('code');
    expect(sent(circle)).toMatchObject({ cause: { cause: { cause: { message: 'round' } } } });
    expect(sent(undefined)).not.toHaveProperty('cause');
  });

  test('rejects everything that waits when the worker dies, and all later calls', async () => {
    const { host, port, die } = connected({ steps: 1e9 });
    await host.call('load', kLoad);
    const waiting = [host.call('run', kRun), host.call('run', kRun)];
    die('it exited with code 1.');
    for (const call of waiting)
      await expect(call).rejects.toMatchObject({ code: 'worker_died', message: expect.stringContaining('code 1') });
    await expect(host.call('memory', null)).rejects.toMatchObject({ code: 'worker_died' });
    expect(port.terminate).toHaveBeenCalled();
  });

  test('ends the worker when the engine traps', async () => {
    const { host, port } = connected({ traps: 'start' });
    await host.call('load', kLoad);
    await expect(host.call('run', kRun)).rejects.toMatchObject({ code: 'worker_died' });
    expect(port.terminate).toHaveBeenCalled();
  });

  test('a signal stops the work in the worker', async () => {
    const { host } = connected({ steps: 1e9 });
    await host.call('load', kLoad);
    const controller = new AbortController();
    const run = host.call('run', kRun, controller.signal);
    setTimeout(() => controller.abort(), 5);
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    // The worker must be free: an endless run would delay this forever.
    const next = new AbortController();
    const later = host.call('run', kRun, next.signal);
    setTimeout(() => next.abort(), 5);
    await expect(later).rejects.toMatchObject({ code: 'aborted' });
  });

  test('disposing rejects what waits and ends the worker once', async () => {
    const { host, port } = connected({ steps: 1e9 });
    await host.call('load', kLoad);
    const run = host.call('run', kRun);
    host.dispose();
    host.dispose();
    await expect(run).rejects.toMatchObject({ code: 'aborted' });
    expect(port.terminate).toHaveBeenCalledTimes(1);
  });

  test('an idle worker is released where it can be, and the next host in it hears nothing of the last one', async () => {
    let tell: (message: WorkerMessage) => void = () => {};
    const port = {
      post: vi.fn<(request: WorkerRequest) => void>(),
      onMessage: (listener: typeof tell) => {
        tell = listener;
      },
      onDeath: () => {},
      terminate: vi.fn(),
      release: vi.fn(),
    };
    const first = new RemoteHost(port, () => {});
    const asked = first.call('memory', null);
    const { id, member } = port.post.mock.calls[0]![0] as { id: number; member: number };
    tell({ kind: 'reply', id, reply: 1 });
    expect(await asked).toBe(1);
    first.dispose();
    expect(port.release.mock.calls).toEqual([[true]]);

    const progress = vi.fn();
    const second = new RemoteHost(port, progress);
    tell({ kind: 'progress', member, progress: { status: 'done', name: 'files', file: 'config.json' } });
    expect(progress).not.toHaveBeenCalled();
    const waiting = second.call('memory', null);
    second.dispose(); // not idle
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    expect(port.release.mock.calls).toEqual([[true], [false]]);
    expect(port.terminate).not.toHaveBeenCalled();
  });

  test.each([false, true])('a worker closes after an engine that was starting has ended (its pipeline has left: %s)', async (hasLeft) => {
    const happened: string[] = [];
    let start = () => {};
    const { engine } = fakeEngine();
    vi.spyOn(engine, 'dispose').mockImplementation(() => void happened.push('engine ended'));
    let toWorker: (request: WorkerRequest) => void = () => {};
    const replied = vi.fn();
    serve(
      replied,
      (listener) => {
        toWorker = listener;
      },
      { ...nodeWasm, startEngine: () => new Promise((resolve) => (start = () => resolve(engine))) },
      () => void happened.push('closed'),
    );
    toWorker({ kind: 'call', id: 1, member: 1, verb: 'load', request: { ...kLoad, source: { ...kLoad.source, files: new Map() } } });
    await vi.waitFor(() => expect(replied).toHaveBeenCalledWith(expect.objectContaining({ kind: 'error', id: 1 })));
    if (hasLeft) toWorker({ kind: 'leave', member: 1 });
    toWorker({ kind: 'end' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(happened).toEqual([]);
    start();
    await vi.waitFor(() => expect(happened).toEqual(['engine ended', 'closed']));
  });

  test('a worker whose engine is broken closes without memory to give back', async () => {
    const { engine } = fakeEngine();
    vi.spyOn(engine, 'dispose').mockImplementation(() => {
      throw new Error('broken');
    });
    let toWorker: (request: WorkerRequest) => void = () => {};
    const replied = vi.fn();
    const closed = vi.fn();
    serve(
      replied,
      (listener) => {
        toWorker = listener;
      },
      { ...nodeWasm, startEngine: async () => engine },
      closed,
    );
    toWorker({ kind: 'call', id: 1, member: 1, verb: 'load', request: kLoad });
    await vi.waitFor(() => expect(replied).toHaveBeenLastCalledWith(expect.objectContaining({ kind: 'reply', id: 1 }), []));
    toWorker({ kind: 'end' });
    await vi.waitFor(() => expect(closed.mock.calls).toEqual([[false]]));
  });

  test('a request that can not be cloned is refused by name', async () => {
    const { host } = connected();
    await expect(host.call('run', { inputs: [], options: { f: () => {} } })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect(await host.call('load', kLoad)).toMatchObject({ bytes: 12 });
  });
});

test('the reason of an error is named once, however often it was wrapped', () => {
  const reason = new Error('getaddrinfo ENOTFOUND hub.example');
  const failed = new TypeError('fetch failed', { cause: reason });
  const told = new PeruseError('network', `It could not be reached: ${describeError(failed)}.`, { cause: failed });
  expect(told.message).toBe('It could not be reached: fetch failed (getaddrinfo ENOTFOUND hub.example).');
  expect(describeError(told)).toBe(told.message);
  expect(describeError(new Error('no reason', { cause: new Error('') }))).toBe('no reason');
});
