// Lets Mesa's driver for Intel's GPUs find a simulated GPU (intel_gpu.c). Debian does not package Mesa's own simulation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedFolder } from '../../../tools/setup/cache.mjs';
import { capture } from '../../../tools/setup/exec.mjs';
import { mesaEnvironment } from '../../../tools/setup/mesa.mjs';

const kSource = fileURLToPath(new URL('intel_gpu.c', import.meta.url));
const kLibrary = 'intel_gpu.so';

function build(folder) {
  capture('clang-19', ['-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', kSource, '-o', join(folder, kLibrary)]);
}

/** `chip` is one of intel_gpu.c: adl, dg2, lnl, bmg. */
export function intelEnvironment(chip) {
  const { folder } = cachedFolder('intel-gpu', readFileSync(kSource, 'utf8'), build);
  return { ...mesaEnvironment('intel'), LD_PRELOAD: join(folder, kLibrary), PERUSE_INTEL_GPU: chip };
}
