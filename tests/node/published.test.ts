// Published models with real weights, if `node tools/setup/published_models.mjs` has installed them. Goldens: make_published_goldens.py.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { convertCheckpoint } from '../../web/dist/quantize/quantize.js';
import { tinyText, tinyTokenizer } from './support/tiny.js';

const { publishedModels } = (await import('../../tools/setup/published_models.mjs')) as unknown as {
  publishedModels(): { minilm: string; paraphrase: string } | undefined;
};
const models = publishedModels();
const kGoldens = fileURLToPath(new URL('../fixtures/published/paraphrase.json', import.meta.url));

/** What the package does not contain: the published configuration. */
const kConfigFile = fileURLToPath(new URL('../fixtures/published/paraphrase_config.json', import.meta.url));
const kConfig = JSON.parse(await readFile(kConfigFile, 'utf8')) as { hidden_size: number; vocab_size: number };

interface Golden {
  ids: number[];
  first: number[];
  last: number[];
  mean: number[];
}

describe.skipIf(models === undefined)('paraphrase-MiniLM-L3-v2 as ONNX', () => {
  let root: string;
  let goldens: Golden[];
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'peruse-published-'));
    goldens = JSON.parse(await readFile(kGoldens, 'utf8')) as Golden[];
    expect(goldens.length).toBeGreaterThan(1);
    for (const { first, last, mean } of goldens) for (const golden of [first, last, mean]) expect(golden).toHaveLength(kConfig.hidden_size);
    const source = join(root, 'source');
    await mkdir(join(source, 'onnx'), { recursive: true });
    await copyFile(models!.paraphrase, join(source, 'onnx/model.onnx'));
    await copyFile(kConfigFile, join(source, 'config.json'));
    await writeFile(join(source, 'tokenizer.json'), tinyTokenizer(kConfig.vocab_size));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  async function largestDifference(folder: string): Promise<number> {
    const embed = await pipeline('feature-extraction', folder, { dtype: 'fp32' });
    try {
      let largest = 0;
      for (const { ids, ...expected } of goldens) {
        for (const [pooling, golden] of [
          ['cls', expected.first],
          ['last_token', expected.last],
          ['mean', expected.mean],
        ] as const) {
          const { data } = await embed(tinyText(ids), { pooling });
          expect(data).toHaveLength(golden.length);
          golden.forEach((value, i) => {
            largest = Math.max(largest, Math.abs(value - data[i]!));
          });
        }
      }
      return largest;
    } finally {
      await embed.dispose();
    }
  }

  test('loads directly, with the hidden states of onnxruntime', async () => {
    expect(await largestDifference(join(root, 'source'))).toBeLessThan(1e-5);
  });

  test('converts, with the same hidden states', async () => {
    const folder = join(root, 'converted');
    expect(await convertCheckpoint(join(root, 'source'), folder)).toMatchObject({ file: 'onnx/model.onnx' });
    expect(await largestDifference(folder)).toBeLessThan(1e-5);
  });
});

describe.skipIf(models === undefined)('all-MiniLM-L6-v2', () => {
  async function sentences(): Promise<string[]> {
    const lines = (await readFile(fileURLToPath(new URL('../../models/everyday_remarks.tsv', import.meta.url)), 'utf8')).split('\n');
    return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split('\t').at(-1)!);
  }

  test('token embeddings of 4 bits cost less than layers of 8', async () => {
    const texts = (await sentences()).slice(0, 60);
    expect(texts.length).toBe(60);
    const vectors = async (dtype: 'fp32' | 'q8' | 'q4') => {
      const embed = await pipeline('feature-extraction', models!.minilm, { dtype });
      const found = await embed(texts, { pooling: 'mean', normalize: true });
      await embed.dispose();
      return [...found.data];
    };
    const exact = await vectors('fp32');
    const cosine = (rough: number[]) => exact.reduce((sum, value, i) => sum + value * rough[i]!, 0) / texts.length;
    const [q8, q4] = [cosine(await vectors('q8')), cosine(await vectors('q4'))];
    // Measured: 0.9950 and 0.9936.
    expect(q4).toBeGreaterThan(0.99);
    expect(q8 - q4).toBeGreaterThan(0);
    expect(q8 - q4).toBeLessThan(1 - q8);
  });
});
