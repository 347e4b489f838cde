// Changes the time limits of this thread and of the workers that it starts.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { patience } from '../../../web/dist/patience.js';

const kWaits = 'PERUSE_ATTACK_WAITS';
const kFile = 'PERUSE_ATTACK_FILE';
const kUsual = { ...patience };
let isInstalled = false;
let waitsNow;

/** From now on; what is not named is as usual. */
export function setWaits(waits) {
  waitsNow = { ...kUsual, ...waits };
  Object.assign(patience, waitsNow);
  if (!isInstalled) install();
  isInstalled = true;
}

/** A worker has a copy of this environment and modules of its own: it starts with impatient_worker.mjs, then comes its file. */
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

/** Runs in such a worker. The bundled worker (web/dist/node) has its own copy of the waits, so this starts the unbundled modules. */
export async function begin() {
  Object.assign(patience, JSON.parse(process.env[kWaits]));
  const file = process.env[kFile];
  const modules = file.replace(/\/node\/worker\.mjs$/, '/worker/worker_node.js');
  if (modules === file) throw new Error(`${file} is not the worker whose waits are known here`);
  await import(modules);
}
