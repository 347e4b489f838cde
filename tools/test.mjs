#!/usr/bin/env node
// All tests, from nothing: set-up, builds, every suite. The last line is "<n> passed, <n> failed" over all suites.
// A suite that ran no test, or whose build failed, counts as a failure.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { kTestedParts, runAttack } from '../tests/attack/attack.mjs';
import { buildLibrary, buildPreset } from './build.mjs';
import { runFuzzers } from './fuzz.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';
import { kSeed, runGoogleTest, runTypeCheck, runVitest } from './test/suites.mjs';

const kResults = join(root, 'build/test-results');

async function main() {
  const start = performance.now();
  rmSync(kResults, { recursive: true, force: true });
  mkdirSync(kResults, { recursive: true });
  const environment = await setup();

  const total = { passed: 0, failed: 0 };
  const suite = async (name, action) => {
    console.log(`\n== ${name}`);
    let result;
    try {
      result = await action();
      if (result.passed + result.failed === 0) throw new Error('the suite ran no tests');
    } catch (error) {
      console.error(error.message);
      result = { passed: result?.passed ?? 0, failed: (result?.failed ?? 0) + 1 };
    }
    console.log(`== ${name}: ${result.passed} passed, ${result.failed} failed${result.skipped ? `, ${result.skipped} skipped` : ''}`);
    total.passed += result.passed;
    total.failed += result.failed;
  };

  await suite('native', async () => {
    await step('build native-debug', () => void buildPreset('native-debug', ['peruse_tests']));
    return runGoogleTest([join(root, 'build/native-debug/peruse_tests')], join(kResults, 'native.json'));
  });
  // Nearly a minute for each program in continuous integration; else only so long that a seed which fails shows.
  await suite('fuzzers', () => runFuzzers({ seconds: process.env.CI ? 55 : 5 }));
  await suite('wasm under Node', async () => {
    await step('build wasm-simd tests', () => void buildPreset('wasm-simd', ['peruse_wasm_tests', 'peruse_gpu_tests']));
    const program = [process.execPath, join(root, 'build/wasm-simd/peruse_wasm_tests.cjs')];
    return runGoogleTest(program, join(kResults, 'wasm.json'));
  });
  await suite('types', async () => {
    await buildLibrary();
    for (const variant of ['simd', 'relaxed'])
      await step(`int8_bits of ${variant}`, () => void buildPreset(`wasm-${variant}`, ['int8_bits']));
    return runTypeCheck();
  });
  await suite('Node', () => runVitest('test:node', join(kResults, 'node.json'), environment));
  await suite('GPU over Dawn', async () => {
    await step('build GPU tests', () => void buildPreset('wasm-simd', ['peruse_gpu_tests']));
    return runVitest('test:gpu', join(kResults, 'gpu.json'), environment);
  });
  await suite('package', async () => {
    await step('bundlers and Node versions', () => installNodeModules(join(root, 'tests/packaging')));
    return runVitest('test:package', join(kResults, 'package.json'), environment);
  });
  await suite('browser', () => runVitest('test:browser', join(kResults, 'browser.json'), environment));
  // By themselves: beside Chromium's suites on two cores, Firefox was once seen to wait for two minutes.
  await suite('other browsers', () => runVitest('test:others', join(kResults, 'others.json'), environment));

  // Two parts at a time: in continuous integration ten minutes of work.
  await suite('attack', () => {
    if (environment.chromium.path) process.env.PERUSE_CHROMIUM ??= environment.chromium.path;
    return runAttack({ minutes: process.env.CI ? 5 : 1, parts: kTestedParts, seed: kSeed });
  });

  console.log(`\n${((performance.now() - start) / 1000).toFixed(0)} s`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 ? 0 : 1;
}

await runAsProgram(import.meta.url, main);
