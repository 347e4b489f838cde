#!/usr/bin/env node
// Formats C++ (.clang-format), TypeScript and JavaScript (biome.json). With --check, only reports differences and lint errors. Formatters that
// do not exist for this machine are skipped with a message.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './setup/exec.mjs';
import { findBiome, findClangFormat } from './setup/formatters.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

const kFolders = ['core', 'bindings', 'tests/bench/gpu_stats', 'tests/native', 'tests/fuzz'];

function sourceFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => /\.(cc?|h)$/.test(name))
    .map((name) => join(folder, name));
}

function formatCpp(check) {
  const { program, missing } = findClangFormat();
  if (missing) return console.log(`C++: formatting skipped: ${missing}`);
  run(program, [...(check ? ['--dry-run', '-Werror'] : ['-i']), ...kFolders.flatMap(sourceFiles)], { cwd: root });
}

function formatTypeScript(check) {
  const { program, missing } = findBiome();
  if (missing) return console.log(`TypeScript: formatting and lint skipped: ${missing}`);
  run(program, ['check', ...(check ? ['--error-on-warnings'] : ['--write', '--linter-enabled=false']), '.'], { cwd: root });
}

await runAsProgram(import.meta.url, () => {
  const check = process.argv.includes('--check');
  formatCpp(check);
  formatTypeScript(check);
});
