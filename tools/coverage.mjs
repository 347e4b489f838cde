#!/usr/bin/env node
// Prints coverage of core by the native tests: node tools/coverage.mjs [--lines]. With --lines, also every line that never ran. Needs
// llvm-profdata and llvm-cov of clang's version.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { capture, run, which } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

function tool(name) {
  const found = which(`${name}-19`) ?? which(name);
  if (found === undefined) throw new Error(`${name} is not installed (Debian: llvm-19)`);
  return found;
}

function linesThatNeverRan(program, data) {
  const text = capture(tool('llvm-cov'), ['show', program, `-instr-profile=${data}`, join(root, 'core')]);
  const never = [];
  let file = '';
  for (const line of text.split('\n')) {
    if (line.startsWith(root) && line.endsWith(':')) file = line.slice(root.length, -1).replace(/^\//, '');
    const found = /^ *(\d+)\| *0\|(.*)$/.exec(line);
    if (found && found[2].trim() !== '}') never.push(`${file}:${found[1]} ${found[2].trim()}`);
  }
  return never;
}

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { lines: { type: 'boolean', default: false } } });
  await setup();
  await step('build native-coverage', () => void buildPreset('native-coverage', ['peruse_tests']));
  const program = join(root, 'build/native-coverage/peruse_tests');
  const folder = join(root, 'build/coverage');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  run(program, ['--gtest_brief=1'], { cwd: root, env: { ...process.env, LLVM_PROFILE_FILE: join(folder, '%p.profraw') } });
  const data = join(folder, 'all.profdata');
  capture('sh', ['-c', `${tool('llvm-profdata')} merge -o '${data}' '${folder}'/*.profraw`]);
  if (values.lines) console.log(linesThatNeverRan(program, data).join('\n'));
  console.log(capture(tool('llvm-cov'), ['report', program, `-instr-profile=${data}`, '-show-region-summary=false', join(root, 'core')]));
});
