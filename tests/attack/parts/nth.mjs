// Fails the n-th fetch, cache call or message, for n = 1, 2, ... until all have failed once, in loading, calling, aborting and disposing. Each
// round must end with a result or a typed error, no worker may remain, and the next round must work.
import { Worker } from 'node:worker_threads';
import { env, pipeline } from '../../../web/dist/index_node.js';
import { startFaultServer } from '../lib/fault_server.mjs';
import { tinyModels } from '../lib/models.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';
import { setWaits } from '../lib/patience.mjs';

const kEndsWithin = 120_000; // milliseconds, far more than a worker takes to end

class Nth {
  arm(n) {
    this.left_ = n;
    this.fired = false;
  }
  pass() {
    this.left_ -= 1;
    if (this.left_ !== 0) return;
    this.fired = true;
    throw new TypeError('the n-th failed');
  }
}

export async function run({ random, timeLeft, begin, count }) {
  setWaits({ cache: 500, retries: [5], worker: 200 });
  const server = await startFaultServer(random);
  const { files, task, call } = tinyModels().find(({ name }) => name === 'deberta-v2-sequence');
  server.serve(files, 0);
  env.remoteHost = server.url;
  const points = { fetch: new Nth(), cache: new Nth(), message: new Nth(), reply: new Nth() };
  for (const point of Object.values(points)) point.arm(Number.POSITIVE_INFINITY);
  const workers = install(points);

  const round = async (worker, abortAt) => {
    const stop = new AbortController();
    let seen = 0;
    const progress_callback = () => {
      seen += 1;
      if (seen === abortAt) stop.abort();
    };
    const pipe = await pipeline(task, 'user/model', { worker, signal: stop.signal, progress_callback });
    try {
      const answer = JSON.stringify(await call(pipe, {}));
      await outcome(call(pipe, { signal: AbortSignal.timeout(1) }), { allow: ['worker_died'] });
      return answer;
    } finally {
      await pipe.dispose();
    }
  };
  try {
    const right = await round(false);
    for (let lap = 0; lap === 0 || timeLeft(); ++lap) {
      for (const [name, point] of Object.entries(points)) {
        for (const worker of name === 'message' ? [true] : [false, true]) {
          for (const abortAt of [0, 3]) {
            for (let n = 1; ; ++n) {
              env.cache = memoryCache(points.cache);
              begin(`${name} ${n}, worker ${worker}, abort at ${abortAt}`);
              point.arm(n);
              count(await outcome(round(worker, abortAt), { allow: ['worker_died'] }));
              const { fired } = point;
              point.arm(Number.POSITIVE_INFINITY);
              await ended(workers, 1); // one may be idle
              if (!fired) break;
              if ((await round(worker)) !== right) throw new Finding('another answer than before');
              count('failures', 1);
            }
          }
        }
      }
      await ended(workers, 0);
    }
  } finally {
    server.close();
  }
}

async function ended(workers, most) {
  for (const end = Date.now() + kEndsWithin; workers.size > most && Date.now() < end; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  if (workers.size > most) throw new Finding(`${workers.size} workers are left`);
}

/** Intercepts fetch, messages and replies. Returns the set of live workers. */
function install({ fetch: fetches, message, reply }) {
  const workers = new Set();
  const realFetch = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    fetches.pass();
    return realFetch(...given);
  };
  const realPost = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function postMessage(...given) {
    if (!workers.has(this)) {
      workers.add(this);
      this.once('exit', () => workers.delete(this));
    }
    message.pass();
    return realPost.apply(this, given);
  };
  // A 'messageerror' event of a worker reports an unreadable reply.
  const realEmit = Worker.prototype.emit;
  Worker.prototype.emit = function emit(event, ...given) {
    if (event !== 'message') return realEmit.call(this, event, ...given);
    try {
      reply.pass();
    } catch (error) {
      return realEmit.call(this, 'messageerror', error);
    }
    return realEmit.call(this, event, ...given);
  };
  return workers;
}

function memoryCache(point) {
  const entries = new Map();
  return {
    match: async (url) => {
      point.pass();
      return entries.get(url)?.clone();
    },
    put: async (url, response) => {
      point.pass();
      entries.set(url, new Response(response.status === 200 ? await response.arrayBuffer() : null, response));
    },
    delete: async (url) => {
      point.pass();
      return entries.delete(url);
    },
  };
}
