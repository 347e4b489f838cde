// Vitest set-up of tools/mutants/web.mjs: what a test file reaches, in processes and workers that it starts too, goes into a file of its own.
import { join } from 'node:path';

export const hitsOf = (test) => `${test.replace(/\W/g, '_')}.txt`;

const folder = process.env.PERUSE_MUTANT_HITS;
if (folder && process.env.VITEST_WORKER_ID) {
  const { expect } = await import('vitest');
  const { relative } = await import('node:path');
  const { root } = await import('../setup/root.mjs');
  process.env.PERUSE_MUTANT_HITS_FILE = join(folder, hitsOf(relative(root, expect.getState().testPath)));
}
