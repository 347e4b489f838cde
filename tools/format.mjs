#!/usr/bin/env node
// Formats our C++ by .clang-format; with --check only says which files differ.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run, which } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

const kFolders = ['core', 'bindings', 'tests/native', 'tests/fuzz'];

function sourceFiles(folder) {
  try {
    return readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.(cc|h)$/.test(name))
      .map((name) => join(folder, name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

await runAsProgram(import.meta.url, () => {
  const program = which('clang-format-19') ?? 'clang-format';
  const mode = process.argv.includes('--check') ? ['--dry-run', '-Werror'] : ['-i'];
  run(program, [...mode, ...kFolders.flatMap(sourceFiles)], { cwd: root });
});
