// The pinned formatters, clang-format and Biome: { program } is a path, { missing } the reason why it is unavailable.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, sha256 } from './cache.mjs';
import { capture, tryCapture, which } from './exec.mjs';
import { installNodeModules } from './node_modules.mjs';
import { root } from './root.mjs';

/** Pinned, because versions format differently. */
const kClangFormat = '19.1.7';
const kPins = join(root, 'tools/lint/requirements.txt');

const kSystem = process.platform === 'win32' ? '.exe' : '';

function versionOf(program) {
  return program && /version (\d+)\./.exec(tryCapture(program, ['--version']) ?? '')?.[1];
}

/** clang-format of the pinned major version, from this machine or from PyPI. */
export function findClangFormat() {
  const [major] = kClangFormat.split('.');
  for (const name of [`clang-format-${major}`, 'clang-format']) {
    const program = process.platform === 'win32' ? name : which(name);
    if (versionOf(program) === major) return { program };
  }
  try {
    const { folder } = cachedFolder('clang-format', sha256(kPins), (partial) => {
      const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary=:all:'];
      capture('python3', ['-m', 'pip', 'install', ...options, '--target', partial, '-r', kPins]);
    });
    return { program: join(folder, `clang_format/data/bin/clang-format${kSystem}`) };
  } catch (error) {
    if (error.message.includes('DO NOT MATCH THE HASHES')) throw error;
    const cause = error.message.split('\n').find((line) => line.startsWith('ERROR:')) ?? error.message.split('\n')[0];
    return { missing: `clang-format ${kClangFormat} is not installed, and pip can't install it (${cause})` };
  }
}

export function findBiome() {
  const folder = join(root, 'tools/lint');
  installNodeModules(folder);
  const program = join(folder, `node_modules/@biomejs/cli-${process.platform}-${process.arch}/biome${kSystem}`);
  return existsSync(program) ? { program } : { missing: `Biome has no program for ${process.platform}-${process.arch}` };
}
