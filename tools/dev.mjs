#!/usr/bin/env node
// The development loop: tests that run again after every edit. npm run dev -- [options] [filter...]
//   npm run dev                       TypeScript: all tests of tests/node, then those that an edit affects; C++: the tests of the edited folder
//   npm run dev -- cache redact       TypeScript: only test files whose path contains one of the words
//   npm run dev -- --native text      C++: the tests of tests/native/text, now and after every edit (also: several, with commas)
//     --filter 'Trie*'                of them, those that GoogleTest's filter names
//     --once                          does not watch
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildVariant } from './build.mjs';
import { kFolders, runNative, watchNative } from './dev/native.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { native: { type: 'string' }, filter: { type: 'string' }, once: { type: 'boolean', default: false } },
  });
  const folders = values.native?.split(',');
  const unknown = folders?.find((folder) => !kFolders.includes(folder));
  if (unknown !== undefined) throw new Error(`Unknown folder '${unknown}'. Folders of tests/native: ${kFolders.join(', ')}.`);
  if (folders && positionals.length > 0) throw new Error(`'${positionals[0]}' selects files of TypeScript; with --native use --filter`);
  if (values.filter && !folders) throw new Error('--filter needs --native and a folder');
  return { folders, filter: values.filter, once: values.once, files: positionals };
}

/** Builds the engines that the chosen tests can load, unless they exist. */
async function buildMissing(words) {
  // These import packages, which a fresh clone lacks before they are installed.
  const [{ neededVariants }, { kEngines, linkEngines }] = await Promise.all([import('./dev/needed_builds.mjs'), import('./dev/tree.mjs')]);
  for (const variant of linkEngines(neededVariants(words)))
    await step(`wasm ${variant}`, () => buildVariant(variant, join(root, kEngines)));
}

function runVitest(files, once) {
  const mode = once ? 'run' : 'watch';
  const command = ['node_modules/vitest/vitest.mjs', mode, '--config', 'tools/dev/vitest.config.ts', ...files];
  const child = spawn(process.execPath, command, { cwd: root, stdio: 'inherit' });
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (status) => resolve(status ?? 1)));
}

await runAsProgram(import.meta.url, async () => {
  const { folders, filter, once, files } = readOptions();
  await setup();
  if (folders) {
    if (!once) watchNative(folders, filter);
    const passed = await runNative(folders, filter);
    if (once) process.exitCode = passed ? 0 : 1;
    return;
  }
  await buildMissing(files);
  if (!once) watchNative();
  process.exit(await runVitest(files, once));
});
