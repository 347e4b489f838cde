#!/usr/bin/env node
// Formats our C++ by .clang-format and our TypeScript and JavaScript by biome.json; with --check only says which files differ, and
// what the linter finds.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run, which } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
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

function formatCpp(check) {
  const program = which('clang-format-19') ?? 'clang-format';
  const mode = check ? ['--dry-run', '-Werror'] : ['-i'];
  run(program, [...mode, ...kFolders.flatMap(sourceFiles)], { cwd: root });
}

function formatTypeScript(check) {
  const folder = join(root, 'tools/lint');
  installNodeModules(folder);
  const program = join(folder, `node_modules/@biomejs/cli-linux-${process.arch}/biome`);
  run(program, check ? ['check', '--error-on-warnings', '.'] : ['format', '--write', '.'], { cwd: root });
}

await runAsProgram(import.meta.url, () => {
  const check = process.argv.includes('--check');
  formatCpp(check);
  formatTypeScript(check);
});
