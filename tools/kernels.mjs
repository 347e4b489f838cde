#!/usr/bin/env node
// Compares models and operations of random shapes, also of training, with the reference, in every build that computes:
// node tools/kernels.mjs [--seconds N] [--builds native,simd,relaxed,simd-threads,relaxed-threads,gpu] [--seed S]
// Each build runs for N seconds (default 60). A failure names its seed and configuration.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

const kRound = 20; // repetitions in one process
const kModels = 12; // models in one repetition, as in the test
const kOperations = 40; // operations in one repetition, as in the tests
const kGpu = ['tests/node/gpu/with_swiftshader.mjs', process.execPath, 'tests/node/gpu/run_gpu_tests.mjs'];

const kRelaxedNode = [process.execPath, ...(Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [])];

const kBuilds = {
  native: ['native-debug', 'peruse_tests', []],
  simd: ['wasm-simd', 'peruse_wasm_tests.cjs', [process.execPath]],
  relaxed: ['wasm-relaxed', 'peruse_wasm_tests.cjs', kRelaxedNode],
  'simd-threads': ['wasm-simd-threads', 'peruse_wasm_tests.cjs', [process.execPath]],
  'relaxed-threads': ['wasm-relaxed-threads', 'peruse_wasm_tests.cjs', kRelaxedNode],
  gpu: ['wasm-simd', 'peruse_gpu_tests.mjs', [process.execPath, ...kGpu]],
};

function runFor(seconds, [preset, file, command], seed) {
  const until = performance.now() + 1000 * seconds;
  let rounds = 0;
  for (let at = seed; performance.now() < until; at += kRound) {
    // GoogleTest accepts seeds from 1 to 99999, and adds 1 for each repetition.
    const args = ['--gtest_filter=Random*', '--gtest_brief=1', '--gtest_shuffle', `--gtest_repeat=${kRound}`];
    const [program, ...rest] = [...command, join(root, 'build', preset, file), ...args, `--gtest_random_seed=${1 + (at % 99_000)}`];
    const { status, stdout, stderr } = spawnSync(program, rest, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
    if (status !== 0)
      throw new Error(
        `${stdout}\n${stderr}`
          .split('\n')
          .filter((line) => !/^(Repeating|Note:|\[ +PASSED)/.test(line))
          .slice(-80)
          .join('\n'),
      );
    rounds += kRound;
  }
  return `${rounds * kModels} models and ${rounds * kOperations} operations`;
}

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      builds: { type: 'string', default: Object.keys(kBuilds).join(',') },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 99_000)) },
    },
  });
  const builds = values.builds.split(',');
  const unknown = builds.find((name) => !(name in kBuilds));
  if (unknown !== undefined) throw new Error(`no build '${unknown}'; there are ${Object.keys(kBuilds).join(', ')}`);
  const environment = await setup();
  if (environment.chromium.path) process.env.PERUSE_CHROMIUM ??= environment.chromium.path;
  if (environment.chromium.swiftshaderIcd) process.env.PERUSE_SWIFTSHADER_ICD ??= environment.chromium.swiftshaderIcd;
  for (const name of builds) {
    const [preset, file] = kBuilds[name];
    await step(`build ${name}`, () => void buildPreset(preset, [file.replace(/\.\w+$/, '')]));
    await step(`kernels ${name}`, () => `${runFor(Number(values.seconds), kBuilds[name], Number(values.seed))}, seed ${values.seed}`);
  }
});
