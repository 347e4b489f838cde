// A subject in a worker of Node or of a page: Peruse's bench module, or onnxruntime-web, with the same verbs. A message { id, verb, request } is
// answered by { id, answer } or { id, error }.

const inNode = typeof process === 'object';

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

class Ort {
  async create({ url, threads }) {
    this.ort_ = await import(/* @vite-ignore */ url);
    this.ort_ = this.ort_.default?.InferenceSession ? this.ort_.default : this.ort_;
    Object.assign(this.ort_.env.wasm, { numThreads: threads, proxy: false });
    this.ort_.env.logLevel = 'error';
  }

  async load({ onnx }) {
    const bytes = await wholeFile(onnx);
    const start = performance.now();
    this.session_ = await this.ort_.InferenceSession.create(bytes, { executionProviders: ['wasm'], graphOptimizationLevel: 'all' });
    return { weightBytes: bytes.length, seconds: (performance.now() - start) / 1000 };
  }

  batch({ ids }) {
    const longest = Math.max(...ids.map((text) => text.length));
    const padded = new BigInt64Array(ids.length * longest);
    const mask = new BigInt64Array(ids.length * longest);
    ids.forEach((text, row) => {
      text.forEach((id, t) => {
        padded[row * longest + t] = BigInt(id);
        mask[row * longest + t] = 1n;
      });
    });
    const shape = [ids.length, longest];
    this.feeds_ = {
      input_ids: new this.ort_.Tensor('int64', padded, shape),
      attention_mask: new this.ort_.Tensor('int64', mask, shape),
    };
    return {};
  }

  async run({ calls }) {
    const start = performance.now();
    const threadStart = threadSeconds();
    for (let i = 0; i < calls; ++i) this.outputs_ = await this.session_.run(this.feeds_);
    const seconds = (performance.now() - start) / 1000 / calls;
    return { seconds, threadSeconds: (threadSeconds() - threadStart) / calls };
  }

  logits() {
    const { dims, data } = this.outputs_.logits;
    return { rows: dims.slice(0, -1).reduce((a, b) => a * b, 1), cols: dims.at(-1), values: Array.from(data) };
  }
  memory() {
    return {};
  }
}

function threadSeconds() {
  if (!inNode || !process.threadCpuUsage) return 0;
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1e-6;
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
  const { Worker } = await import('node:worker_threads');
  return () => new Worker(new URL(url), { workerData: 'em-pthread', execArgv: [] });
}

async function wholeFile(name) {
  if (!inNode) return new Uint8Array(await (await fetch(name)).arrayBuffer());
  const { readFileSync } = await import('node:fs');
  return new Uint8Array(readFileSync(name));
}

const kKinds = { peruse: Peruse, ort: Ort };

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
