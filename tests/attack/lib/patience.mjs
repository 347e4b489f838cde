// Changes the time limits of this thread and its workers.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { patience } from '../../../web/dist/patience.js';

const kWaits = 'PERUSE_ATTACK_WAITS';
const kFile = 'PERUSE_ATTACK_FILE';
const kUsual = { ...patience };
let isInstalled = false;
let waitsNow;

export function setWaits(waits) {
  waitsNow = { ...kUsual, ...waits };
  Object.assign(patience, waitsNow);
  if (!isInstalled) install();
  isInstalled = true;
}

/** Starts workers with impatient_worker.mjs, because each has its own modules. */
function install() {
  const threads = createRequire(import.meta.url)('node:worker_threads');
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      const env = { ...process.env, [kWaits]: JSON.stringify(waitsNow), [kFile]: String(file) };
      super(new URL('impatient_worker.mjs', import.meta.url), { ...options, env });
    }
  };
  syncBuiltinESMExports();
}

/** Runs in such a worker. Starts the unbundled modules: the bundled worker has its own copy of the limits. */
export async function begin() {
  Object.assign(patience, JSON.parse(process.env[kWaits]));
  const file = process.env[kFile];
  const modules = file.replace(/\/node\/worker\.mjs$/, '/worker/worker_node.js');
  if (modules === file) throw new Error(`${file} is not the worker whose waits are known here`);
  await import(modules);
}
