// Runs subjects: a worker of this process, a worker of a Chromium page, or a native program. Each has ask(verb, request) and close().
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';

/** Sends messages with ids by `post`; `listen` receives the function that handles replies. */
function correspond(post, listen) {
  const waiting = new Map();
  let next = 1;
  listen(({ id, answer, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(answer);
  });
  return {
    ask: (verb, request) =>
      new Promise((resolve, reject) => {
        waiting.set(next, { resolve, reject });
        post({ id: next++, verb, request });
      }),
    fail: (error) => {
      for (const { reject } of waiting.values()) reject(error);
    },
  };
}

export async function nodeSubject(create) {
  const worker = new Worker(new URL('./worker.mjs', import.meta.url));
  const { ask, fail } = correspond(
    (message) => worker.postMessage(message),
    (take) => worker.on('message', take),
  );
  worker.on('error', fail);
  await ask('create', create);
  return { ask, close: () => worker.terminate() };
}

export async function nativeSubject(program, threads) {
  const child = spawn(program, [String(threads)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = [];
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift().resolve(JSON.parse(line)));
  child.on('exit', (code) => {
    for (const { reject } of waiting) reject(new Error(`${program} ended: ${code}`));
  });
  const ask = async (verb, request) => {
    const answer = await new Promise((resolve, reject) => {
      waiting.push({ resolve, reject });
      child.stdin.write(`${JSON.stringify({ verb, ...request })}\n`);
    });
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  return { ask, close: () => child.stdin.end() };
}

/** `page`: a Playwright page that has the function window.startWorker (chromium.mjs). */
export async function pageSubject(page, create) {
  const key = await page.evaluate(() => window.startWorker());
  const ask = (verb, request) => page.evaluate(([key, verb, request]) => window.askWorker(key, verb, request), [key, verb, request]);
  await ask('create', create);
  return { ask, close: () => page.evaluate((key) => window.endWorker(key), key) };
}
