#!/usr/bin/env node
// Runs the thread pool, and models on several threads, under the thread sanitizer: node tools/threads.mjs [--filter <GoogleTest's>]
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { run } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

const kTests = 'ThreadPoolTest.*:*cpu_3_threads*:RandomModels.Threads*:*WarmCallTest*:Workers.*:Threads.*';

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { filter: { type: 'string', default: kTests } } });
  await setup();
  await step('build native-threads', () => void buildPreset('native-threads', ['peruse_tests']));
  run(join(root, 'build/native-threads/peruse_tests'), [`--gtest_filter=${values.filter}`, '--gtest_brief=1'], {
    cwd: root,
    env: { ...process.env, TSAN_OPTIONS: 'halt_on_error=1' },
  });
});
