// Shorter waits than a user has, in this thread and in the workers that it starts.
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { patience } from '../../../web/dist/patience.js';

const kWaits = 'PERUSE_ATTACK_WAITS';
const kFile = 'PERUSE_ATTACK_FILE';

/** A worker has a copy of this environment and modules of its own: it starts with impatient_worker.mjs, then comes its file. */
export function shorten(waits) {
  Object.assign(patience, waits);
  const threads = createRequire(import.meta.url)('node:worker_threads');
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      const env = { ...process.env, [kWaits]: JSON.stringify(waits), [kFile]: String(file) };
      super(new URL('impatient_worker.mjs', import.meta.url), { ...options, env });
    }
  };
  syncBuiltinESMExports();
}

/** In such a worker. */
export async function begin() {
  Object.assign(patience, JSON.parse(process.env[kWaits]));
  await import(process.env[kFile]);
}
