// Vitest set-up of tools/mutants/web.mjs: what a test file reaches, in processes and workers that it starts too, goes into a file of its own, and at its
// end the seconds that its process has computed.
import { join } from 'node:path';

export const hitsOf = (test) => `${test.replace(/\W/g, '_')}.txt`;

const folder = process.env.PERUSE_MUTANT_HITS;
if (folder && process.env.VITEST_WORKER_ID) {
  const { afterAll, expect } = await import('vitest');
  const { appendFileSync } = await import('node:fs');
  const { relative } = await import('node:path');
  const { root } = await import('../setup/root.mjs');
  const file = join(folder, hitsOf(relative(root, expect.getState().testPath)));
  process.env.PERUSE_MUTANT_HITS_FILE = file;
  afterAll(() => {
    const { user, system } = process.cpuUsage();
    appendFileSync(file, `seconds ${(user + system) / 1e6}\n`);
  });
}
