#!/usr/bin/env node
// Runs Node tests of whole pipelines on the installed package: npm run test:tarball -- [peruse-1.2.3.tgz]
// Without a file, packs the built package. Works on Linux, macOS and Windows, without a compiler.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { capture } from '../setup/exec.mjs';
import { runAsProgram } from '../setup/main_module.mjs';
import { root } from '../setup/root.mjs';

/** On Windows npm is a shell script. */
const npm = (args, cwd) => capture('npm', args, { cwd, shell: process.platform === 'win32' });

function pack(folder) {
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], root));
  return join(folder, filename);
}

function install(tarball, folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  npm(['install', '--offline', '--no-audit', '--no-fund', tarball], folder);
  return join(folder, 'node_modules/peruse');
}

await runAsProgram(import.meta.url, () => {
  const files = process.argv.slice(2);
  if (files.length > 1) throw new Error('One tarball at a time: npm run test:tarball -- peruse-1.2.3.tgz');
  const place = mkdtempSync(join(tmpdir(), 'peruse-tarball-'));
  try {
    const tarball = files.length === 1 ? resolve(files[0]) : pack(place);
    const env = { ...process.env, PERUSE_PACKAGE: install(tarball, join(place, 'app')) };
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'tarball'], { cwd: root, env, stdio: 'inherit' });
    process.exitCode = status ?? 1;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});
