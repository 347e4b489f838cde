#!/usr/bin/env node
// The thread pool, and models computed by several threads, under the thread sanitizer: node tools/threads.mjs [--filter <GoogleTest's>]
// The first finding ends the program.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { run } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

/** What starts threads: the pool, the list of operations on three threads, whole models on two to four, lessons on two and five. */
const kTests = 'ThreadPoolTest.*:*xnnpack_3_threads*:RandomModels.Threads*:*WarmCallTest*:Workers.*:Threads.*';

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { filter: { type: 'string', default: kTests } } });
  await setup();
  await step('build native-threads', () => void buildPreset('native-threads', ['peruse_tests']));
  run(join(root, 'build/native-threads/peruse_tests'), [`--gtest_filter=${values.filter}`, '--gtest_brief=1'], {
    cwd: root,
    env: { ...process.env, TSAN_OPTIONS: 'halt_on_error=1' },
  });
});
