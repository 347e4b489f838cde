import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { tinyModel } from './support/tiny.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** The toy tokenizer lacks the special tokens that the class of a Gemma's tokenizer would add. */
const kTokenizerConfig = new TextEncoder().encode('{ "tokenizer_class": "PreTrainedTokenizerFast" }');

const root = await mkdtemp(join(tmpdir(), 'peruse-quantize-'));
afterAll(() => rm(root, { recursive: true }));

test('a q8 checkpoint can be made of every tiny checkpoint', async () => {
  for (const set of ['tiny', 'conv']) {
    for (const name of await readdir(join(kFixtures, set))) {
      const read = (file: string) => readFile(join(kFixtures, set, name, file)).then((bytes) => new Uint8Array(bytes));
      const config = await read('config.json').catch(() => undefined);
      if (config === undefined || name === 'deberta-v1-talking-heads') continue; // unsupported
      const folder = join(root, set, name);
      const weights = await read('model.safetensors');
      await quantizeCheckpoint({ ...tinyModel(config, weights), 'tokenizer_config.json': kTokenizerConfig }, folder);
      const embed = await pipeline('feature-extraction', folder, { variant: 'simd' });
      expect(embed.info.dtype, name).toBe('q8');
      await embed.dispose();
    }
  }
}, 180_000);
