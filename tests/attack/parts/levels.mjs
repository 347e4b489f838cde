// Load and dispose three hundred times, in every build, in workers and not: memory returns to its level after the tenth load.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kRoot } from '../lib/models.mjs';
import { Finding } from '../lib/outcome.mjs';

const kLoads = 300;
const kProgram = fileURLToPath(new URL('../lib/load_often.mjs', import.meta.url));

export async function run({ random, timeLeft, begin, count, note }) {
  const left = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads']
    .filter((name) => existsSync(join(kRoot, `web/wasm/peruse-${name}.wasm`)))
    .flatMap((variant) => [true, false].map((worker) => ({ variant, worker, ...(variant.endsWith('threads') ? { threads: 2 } : {}) })));
  // In random order, so that a short run tries some and many short runs try all.
  while (left.length > 0 && timeLeft()) {
    const [options] = left.splice(random.below(left.length), 1);
    const what = JSON.stringify(options);
    const levels = await loadOften(options, timeLeft, () => begin(what));
    if (levels === undefined) return;
    const text = `${what}: ${levels.text}`;
    if (levels.rose) throw new Finding(`memory rises: ${text}`);
    note(text);
    count('loads', kLoads);
  }
}

/** The two levels; undefined where time ended first. */
function loadOften(options, timeLeft, sayAlive) {
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
