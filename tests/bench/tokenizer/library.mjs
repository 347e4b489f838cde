// The tokenizers library of transformers.js, which npm installs into build/ for this benchmark.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { capture } from '../../../tools/setup/exec.mjs';
import { root } from '../../../tools/setup/root.mjs';

const kName = '@huggingface/tokenizers';
const kVersion = '0.2.0';
const kIntegrity = 'sha512-LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg==';

const kFolder = join(root, 'build/bench-tokenizers-js');

function installed() {
  try {
    const lock = JSON.parse(readFileSync(join(kFolder, 'node_modules/.package-lock.json'), 'utf8'));
    return lock.packages[`node_modules/${kName}`]?.integrity;
  } catch {
    return undefined;
  }
}

export async function installLibrary() {
  if (installed() !== kIntegrity) {
    mkdirSync(kFolder, { recursive: true });
    capture('npm', ['install', '--prefix', kFolder, '--no-audit', '--no-fund', '--ignore-scripts', `${kName}@${kVersion}`]);
  }
  if (installed() !== kIntegrity) throw new Error(`${kName}@${kVersion} is not the one that was pinned`);
  const module = await import(pathToFileURL(join(kFolder, 'node_modules', kName, 'dist/tokenizers.mjs')));
  return module.Tokenizer;
}
