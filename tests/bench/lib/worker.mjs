// A subject in a worker of Node or of a page: Peruse's bench module, or another runtime, with the same verbs. A message { id, verb, request } is
// answered by { id, answer } or { id, error }.

import { LiteRt } from './litert_subject.mjs';
import { OrtNode, OrtWeb } from './ort_subject.mjs';
import { inNode, threadSeconds } from './worker_tools.mjs';

class Peruse {
  async create({ url, threads }) {
    const factory = (await import(/* @vite-ignore */ url)).default;
    // Workers for the engine's threads and for those of the peak-rate loop.
    this.module_ = await factory({ pthreadPoolSize: 2 * (threads - 1), startHelper: await helpersOf(url) });
    this.engine_ = new this.module_.BenchEngine(threads);
  }

  async load({ config, task, dtype, weights }) {
    const start = performance.now();
    let engineSeconds = 0;
    const timed = (call) => {
      const begin = performance.now();
      const answer = JSON.parse(call());
      engineSeconds += (performance.now() - begin) / 1000;
      if (answer.error) throw new Error(answer.error);
      return answer;
    };
    timed(() => this.engine_.open(JSON.stringify({ config, task, dtype })));
    for await (const chunk of chunksOf(weights, config)) {
      const address = this.engine_.reserve(chunk.length) >>> 0;
      this.module_.HEAPU8.set(chunk, address);
      timed(() => this.engine_.feedWeights(chunk.length));
    }
    const { weightBytes } = timed(() => this.engine_.finishWeights());
    return { weightBytes, seconds: (performance.now() - start) / 1000, engineSeconds };
  }

  batch(request) {
    return this.engine_.setBatch(JSON.stringify(request));
  }
  run({ calls }) {
    return this.engine_.run(calls);
  }
  peak({ seconds }) {
    return this.engine_.peak(seconds);
  }
  logits() {
    return this.engine_.logits();
  }
  profile() {
    return this.engine_.profile();
  }
  memory() {
    return { heapBytes: this.module_.HEAPU8.length };
  }
}

async function* chunksOf(weights, config) {
  if (weights === undefined) {
    const { checkpointChunks } = await import('./checkpoint.mjs');
    yield* checkpointChunks(config);
  } else if (inNode) {
    // Reads into one buffer like the library (web/src/sources/file_access_node.ts), in this thread, whose clock is measured, as in wholeFile.
    const { closeSync, openSync, readSync } = await import('node:fs');
    const file = openSync(weights, 'r');
    const buffer = new Uint8Array(1 << 20);
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) yield buffer.subarray(0, read);
    closeSync(file);
  } else {
    const reader = (await fetch(weights)).body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  }
}

/** Creates the workers that the loader requests for its threads (bindings/start_helper.js). */
async function helpersOf(url) {
  if (!inNode) return () => new Worker(url, { type: 'module', name: 'em-pthread' });
  const threads = await import('node:worker_threads'); // another name for its Worker would hide the page's above
  return () => new threads.Worker(new URL(url), { workerData: 'em-pthread', execArgv: [] });
}

const kKinds = { peruse: Peruse, ort: OrtWeb, 'ort-node': OrtNode, litert: LiteRt };

async function serve(post, listen) {
  let subject;
  const spent = { seconds: 0, threadSeconds: 0 };
  listen(async ({ id, verb, request }) => {
    if (verb === 'spent') return post({ id, answer: spent });
    const start = performance.now();
    const threadStart = threadSeconds();
    try {
      if (verb === 'create') subject = new kKinds[request.kind]();
      const answer = await subject[verb](request ?? {});
      const parsed = typeof answer === 'string' ? JSON.parse(answer) : (answer ?? {});
      if (parsed.error) throw new Error(parsed.error);
      spent.seconds += (performance.now() - start) / 1000;
      spent.threadSeconds += threadSeconds() - threadStart;
      post({ id, answer: parsed });
    } catch (error) {
      post({ id, error: String(error?.stack ?? error) });
    }
  });
}

if (inNode) {
  const { parentPort } = await import('node:worker_threads');
  serve(
    (message) => parentPort.postMessage(message),
    (listener) => parentPort.on('message', listener),
  );
} else {
  serve(
    (message) => postMessage(message),
    (listener) => addEventListener('message', (event) => listener(event.data)),
  );
}
