import { spawnSync } from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { patience } from '../../web/dist/patience.js';
import { pipelineOf } from '../../web/dist/pipeline.js';

const kModel = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));
const kIndex = new URL('../../web/dist/index_node.js', import.meta.url).href;
const kText = 'A gem of a film.';
const { worker: kUsual, lettingGo: kUsualLettingGo } = patience;

const alive = new Set<Worker>();
let started = 0;
let preloaded: string[] = []; // scripts that run in new workers first
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker };
threads.Worker = class extends threads.Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(
      file,
      preloaded.length > 0 ? { ...options, execArgv: preloaded.map((script) => `--import=data:text/javascript,${script}`) } : options,
    );
    started += 1;
    alive.add(this);
    this.once('exit', () => alive.delete(this));
  }
};
syncBuiltinESMExports();

let loads = 0;
/** Each load has an engine of its own. */
const load = (options: PipelineOptions = {}) =>
  pipelineOf('text-classification', kModel, { worker: true, variant: 'simd', ...options }, ++loads);

async function loadOnce(options: PipelineOptions = {}) {
  const pipe = await load(options);
  const answer = await pipe(kText);
  await pipe.dispose();
  return answer;
}

const untilAlive = (count: number) => vi.waitFor(() => expect(alive.size).toBe(count), { timeout: 30_000, interval: 10 });

beforeEach(() => {
  patience.worker = 600_000;
  patience.lettingGo = 600_000; // no time-out on a busy machine
  started = 0;
});

afterEach(async () => {
  for (const worker of alive) void worker.terminate();
  await untilAlive(0);
  patience.worker = kUsual;
  patience.lettingGo = kUsualLettingGo;
  preloaded = [];
});

test('the next load is in the worker of the last one, whatever that was', async () => {
  const answer = await loadOnce();
  await expect(pipeline('question-answering', kModel, { worker: true })).rejects.toMatchObject({ code: 'missing_head' });
  expect(await loadOnce({ variant: 'simd-threads', threads: 2 })).toMatchObject([{ label: (answer as { label: string }[])[0]!.label }]);
  expect(await loadOnce()).toEqual(answer);
  expect({ started, alive: alive.size }).toEqual({ started: 1, alive: 1 });
});

test('two at once are in two workers, of which one rests afterwards', async () => {
  const pipes = await Promise.all([load(), load()]);
  expect(started).toBe(2);
  for (const pipe of pipes) await pipe.dispose();
  await untilAlive(1);
  const next = await Promise.all([loadOnce(), loadOnce()]);
  expect(next[0]).toEqual(next[1]);
  expect(started).toBe(3);
});

test('it rests for so long, and then ends', async () => {
  patience.worker = 50;
  await loadOnce();
  await untilAlive(0);
  await loadOnce();
  expect(started).toBe(2);
  patience.worker = 0;
  await loadOnce();
  await untilAlive(0);
});

test('a worker in which something was under way does not rest', async () => {
  const stop = new AbortController();
  const loading = load({ signal: stop.signal, progress_callback: () => stop.abort() });
  await expect(loading).rejects.toMatchObject({ code: 'aborted' });
  await untilAlive(0);
  const pipe = await load();
  const call = pipe(Array(500).fill(kText));
  await pipe.dispose();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
  await untilAlive(0);
});

test('none is taken that has died, or that has another environment', async () => {
  await loadOnce();
  for (const worker of alive) await worker.terminate();
  await loadOnce();
  expect(started).toBe(2);
  process.env.PERUSE_TEST_ENVIRONMENT = 'another';
  try {
    await loadOnce();
  } finally {
    delete process.env.PERUSE_TEST_ENVIRONMENT;
  }
  expect(started).toBe(3);
});

test('a worker whose end fails ends anyway, and the next load is in another one', async () => {
  preloaded = ["globalThis.gc = () => { throw new Error('no collection'); }"];
  const answer = await loadOnce();
  preloaded = [];
  expect(await loadOnce()).toEqual(answer); // does not wait for the first worker until patience.lettingGo
  expect({ started, alive: alive.size }).toEqual({ started: 2, alive: 1 });
});

test('it does not keep the process', () => {
  const script = `
    import { pipeline } from '${kIndex}';
    const pipe = await pipeline('text-classification', '${kModel}', { worker: true });
    await pipe.dispose();
    process.on('exit', () => console.log(process.uptime() < ${kUsual / 1000}));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect({ stdout, stderr, status }).toEqual({ stdout: 'true\n', stderr: '', status: 0 });
});

test('a worker creates no context after its first answer: Node 22 prints to stderr if the process ends meanwhile', () => {
  const preload = `data:text/javascript,${encodeURIComponent(`
    import { createRequire, syncBuiltinESMExports } from 'node:module';
    import { writeSync } from 'node:fs';
    const vm = createRequire('/')('node:vm');
    const { runInNewContext } = vm;
    vm.runInNewContext = (...args) => (writeSync(1, 'context '), runInNewContext(...args));
    syncBuiltinESMExports();`)}`;
  const program = `
    import { writeSync } from 'node:fs';
    import { pipeline } from ${JSON.stringify(kIndex)};
    for (const when of ['first ', 'second']) {
      const classify = await pipeline('text-classification', ${JSON.stringify(kModel)}, { worker: true });
      writeSync(1, when);
      await classify.dispose();
    }`;
  const env = { ...process.env, NODE_OPTIONS: `--import ${preload}` }; // also in workers
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env });
  expect({ out: run.stdout, err: run.stderr }).toEqual({ out: 'context first second', err: '' });
});
