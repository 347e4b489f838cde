// npm run bench -- --dispatch: compares the kernels that are chosen on this machine with the other kernels in the build.
import { spawnSync } from 'node:child_process';
import { buildProgram, installPackages, nodeWithRelaxedSimd } from './prepare.mjs';

export async function testDispatch(variants) {
  await installPackages();
  let sound = true;
  for (const variant of variants) {
    const program = await buildProgram('dispatch_bench', variant);
    console.log(`\n${variant}`);
    const { status, error } = spawnSync(nodeWithRelaxedSimd(), [program], { stdio: 'inherit' });
    if (error) throw error;
    sound &&= status === 0;
  }
  return sound;
}
