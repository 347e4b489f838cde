import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { dropHelpers, prepareHelpers, startHelper } from '../../web/src/engine/helper_browser.js';
import { Helper } from '../../web/src/engine/helpers.js';
import { unlessAborted } from '../../web/src/errors.js';
import { patience } from '../../web/src/patience.js';
import { startBrowserWorker } from '../../web/src/worker/start_worker_browser.js';

const kPatience = { ...patience };
beforeEach(() => {
  patience.threads = 50;
  patience.ending = 100;
});
afterEach(() => {
  Object.assign(patience, kPatience);
});

type Answer = 'starts' | 'hangs' | 'is missing';

class FakeWorker {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: { message?: string }) => void) | null = null;
  readonly asked: unknown[] = [];
  terminate = vi.fn();

  constructor(private readonly answer_: Answer) {
    setTimeout(() => {
      if (answer_ === 'is missing') this.onerror?.({});
      else this.say('here');
    });
  }

  postMessage(message: unknown): void {
    this.asked.push(message);
    setTimeout(() => {
      if (this.answer_ === 'is missing') return;
      this.say('here');
      if (this.answer_ === 'starts') this.say('prepared');
    }, 5);
  }

  private say(kind: string): void {
    setTimeout(() => this.onmessage?.({ data: { kind } }));
  }
}

function starting(answers: Answer[], threads: number) {
  const workers: FakeWorker[] = [];
  const make = () => {
    workers.push(new FakeWorker(answers[workers.length]!));
    return workers.at(-1) as unknown as Worker;
  };
  return { workers, started: startBrowserWorker({ make, address: 'https://a.example/peruse-worker.js' }, threads) };
}

test('one thread needs no others', async () => {
  const { workers, started } = starting(['hangs'], 1);
  await started;
  expect(workers[0]!.asked).toEqual([]);
});

test('the others are started before anything is sent', async () => {
  const { workers, started } = starting(['starts'], 4);
  const port = await started;
  expect(workers[0]!.asked).toEqual([{ helpers: 3 }]);
  const died = vi.fn();
  port.onDeath(died);
  expect(died).not.toHaveBeenCalled();
});

const kEnd = { kind: 'end' };

// Chromium keeps the threads of a worker that is terminated, and a slow worker may already have some.
test('a worker that hangs while it starts them is replaced, asked to end, and ended later', async () => {
  const { workers, started } = starting(['hangs', 'hangs', 'starts'], 2);
  const port = await started;
  const ends = () => workers.map(({ terminate }) => terminate.mock.calls.length);
  expect(workers.map(({ asked }) => asked.at(-1))).toEqual([kEnd, kEnd, { helpers: 1 }]);
  expect(ends()[1]).toBe(0);
  await vi.waitFor(() => expect(ends()).toEqual([1, 1, 0]));
  const heard = vi.fn();
  port.onMessage(heard);
  workers[2]!.onmessage!({ data: { kind: 'reply', id: 1, reply: null } });
  expect(heard).toHaveBeenCalledWith({ kind: 'reply', id: 1, reply: null });
});

test('three that hang are an error that says what helps', async () => {
  const { workers, started } = starting(['hangs', 'hangs', 'hangs'], 2);
  await expect(started).rejects.toMatchObject({ code: 'worker_died', message: expect.stringContaining("'threads: 1'") });
  await vi.waitFor(() => expect(workers.map(({ terminate }) => terminate.mock.calls.length)).toEqual([1, 1, 1]));
});

test('a script that is missing is no matter of threads', async () => {
  const { workers, started } = starting(['is missing'], 2);
  const died = vi.fn();
  (await started).onDeath(died);
  expect(died).toHaveBeenCalledWith(
    expect.stringMatching(
      /^its script could not be loaded from https:\/\/a\.example\/peruse-worker\.js\. .*copy-files.*env\.filesPath.*peruse\/inline/,
    ),
  );
  expect(workers).toHaveLength(1);
});

test('who no longer wants the worker gets none, and it ends', async () => {
  const abort = new AbortController();
  const { workers, started } = starting(['hangs', 'starts'], 2);
  setTimeout(() => abort.abort(), 10);
  const drop = vi.fn((late: { terminate(): void }) => late.terminate());
  await expect(unlessAborted(started, abort.signal, drop)).rejects.toMatchObject({ code: 'aborted' });
  expect(workers).toHaveLength(1);
  await vi.waitFor(() => expect(drop).toHaveBeenCalledOnce());
  expect(workers[1]!.asked).toContainEqual(kEnd);
});

test('a thread that failed before anybody listened says so', () => {
  const helper = new Helper(
    () => {},
    () => {},
  );
  helper.fail({ message: 'no such file' });
  const failed = vi.fn();
  helper.onFailure(failed);
  expect(failed).toHaveBeenCalledWith('no such file');
});

test('threads that were prepared are taken, those left over ended, and what the browser refuses is told when it is needed', async () => {
  const started: { terminate: ReturnType<typeof vi.fn>; onmessage?: (event: { data: unknown }) => void }[] = [];
  let refuses = false;
  vi.stubGlobal('location', { href: 'https://a.example/peruse-worker.js' });
  vi.stubGlobal(
    'Worker',
    class {
      terminate = vi.fn();
      constructor() {
        if (refuses) throw new Error('refused');
        started.push(this);
      }
    },
  );
  try {
    prepareHelpers(2);
    startHelper();
    expect(started).toHaveLength(2);
    const terminated = () => started.map(({ terminate }) => terminate.mock.calls.length);
    const ended = dropHelpers();
    expect(terminated()).toEqual([0, 0]); // it has not started yet
    started[1]!.onmessage!({ data: { kind: 'here' } });
    await ended;
    expect(terminated()).toEqual([0, 1]);
    startHelper();
    expect(started).toHaveLength(3);
    refuses = true;
    prepareHelpers(1);
    expect(() => startHelper()).toThrow('refused');
  } finally {
    vi.unstubAllGlobals();
  }
});
