// Loads and disposes 300 times, in every build, with and without workers, in Node and in Chromium. Memory must return to the level of the
// tenth load.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPage } from '../lib/chromium_page.mjs';
import { Levels } from '../lib/memory.mjs';
import { kRoot } from '../lib/models.mjs';
import { Finding } from '../lib/outcome.mjs';

const kLoads = 300;
const kProgram = fileURLToPath(new URL('../lib/load_often.mjs', import.meta.url));
const kModel = join(kRoot, 'models/peruse-sentiment-convbert-tiny');

export async function run({ random, timeLeft, begin, count, note }) {
  const left = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads']
    .filter((name) => existsSync(join(kRoot, `web/wasm/peruse-${name}.wasm`)))
    .flatMap((variant) => [true, false].map((worker) => ({ variant, worker, ...(variant.endsWith('threads') ? { threads: 2 } : {}) })))
    .flatMap((options) => [
      ['Node', options, loadInNode],
      // A page's main thread may not wait for threads.
      ...(options.threads === undefined || options.worker ? [['Chromium', options, loadInChromium]] : []),
    ]);
  const risen = [];
  // Random order, because a short run does not reach all.
  while (left.length > 0 && timeLeft()) {
    const [[place, options, loadOften]] = left.splice(random.below(left.length), 1);
    const what = `${place}, ${JSON.stringify(options)}`;
    const levels = await loadOften(options, timeLeft, () => begin(what));
    if (levels === undefined) break;
    const text = `${what}: ${levels.text}`;
    if (levels.rose) risen.push(text);
    else note(text);
    count('loads', kLoads);
  }
  if (risen.length > 0) throw new Finding(`memory rises: ${risen.join('; ')}`);
}

/** Returns the two levels; undefined if time ended first. */
function loadInNode(options, timeLeft, sayAlive) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--expose-gc', kProgram, JSON.stringify(options), String(kLoads)]);
    const watch = setInterval(() => (timeLeft() ? sayAlive() : child.kill()), 10_000);
    sayAlive();
    let out = '';
    let errors = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.stderr.on('data', (text) => {
      errors += text;
    });
    child.on('close', (code, signal) => {
      clearInterval(watch);
      if (signal !== null && !timeLeft()) resolve(undefined);
      else if (code !== 0 || errors !== '')
        reject(new Finding(`${JSON.stringify(options)} ended with ${signal ?? code}: ${errors.slice(-2000)}`));
      else resolve(JSON.parse(out));
    });
  });
}

/** The page's part of load_often.mjs. */
const kScript = `
import { pipeline } from '/web/bundle/peruse.js';
globalThis.load = async (options, isFine) => {
  const task = isFine ? 'text-classification' : 'question-answering';
  const pipe = await pipeline(task, new URL('/m/', location.href), options).catch((error) => {
    if (error.code !== 'missing_head' && error.code !== 'missing_tensor') throw error;
  });
  await pipe?.('A gem of a film.');
  await pipe?.dispose();
};
globalThis.settle = async () => {
  for (let i = 0; i < 3; ++i) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
globalThis.ready = true;`;

async function loadInChromium(options, timeLeft, sayAlive) {
  const files = Object.fromEntries(
    ['config.json', 'tokenizer.json', 'model.safetensors'].map((name) => [name, readFileSync(join(kModel, name))]),
  );
  const { page, residentBytes, close } = await openPage(kScript, files, (error) => {
    throw new Finding(`the page: ${error.message}`);
  });
  try {
    const levels = new Levels();
    for (let i = 1; i <= kLoads; ++i) {
      if (!timeLeft()) return undefined;
      if (i % 10 === 1) sayAlive();
      await page.evaluate(`load(${JSON.stringify(options)}, ${i % 2 === 1})`);
      if (i <= 15 || i > kLoads - 10) await page.evaluate('settle()');
      levels.add(await residentBytes());
    }
    const { first, end, rose } = levels;
    return { first, end, rose, text: String(levels) };
  } finally {
    await close();
  }
}
