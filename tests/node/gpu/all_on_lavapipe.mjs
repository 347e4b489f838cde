#!/usr/bin/env node
// Runs all cases of peruse_gpu_tests on lavapipe, Mesa's software driver, in two processes that share compiled shaders.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mesaEnvironment } from '../../../tools/setup/mesa.mjs';

const kShards = 2;
const program = fileURLToPath(new URL('../../../build/wasm-simd/peruse_gpu_tests.mjs', import.meta.url));
const runner = fileURLToPath(new URL('run_gpu_tests.mjs', import.meta.url));
const cache = mkdtempSync(join(tmpdir(), 'peruse-lavapipe-'));
const env = {
  ...process.env,
  ...mesaEnvironment('lvp'),
  LP_NUM_THREADS: '1',
  MESA_SHADER_CACHE_DISABLE: 'false',
  MESA_SHADER_CACHE_DIR: cache,
};

function runShard(index) {
  return new Promise((resolve, reject) => {
    const options = [`--shard=${index}/${kShards}`, '--gtest_brief=1', ...process.argv.slice(2)];
    const child = spawn(process.execPath, [runner, program, ...options], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const shards = await Promise.all(Array.from({ length: kShards }, (_, index) => runShard(index)));
rmSync(cache, { recursive: true });
let passed = 0;
let failed = 0;
for (const { code, output } of shards) {
  const count = (label) => Number(new RegExp(`\\[ {2}${label} {1,2}\\] (\\d+) tests?`).exec(output)?.[1] ?? 0);
  const onLavapipe = /^on .*llvmpipe/m.test(output);
  passed += count('PASSED');
  // lavapipe has every optional feature that tests use, so no test may be skipped. A process that ends early prints no counts.
  failed += count('SKIPPED') + (code === 0 && onLavapipe ? 0 : Math.max(count('FAILED'), 1));
  if (!onLavapipe) console.log('the adapter is not lavapipe:');
  if (code !== 0 || !onLavapipe) console.log(output.slice(-10000));
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
