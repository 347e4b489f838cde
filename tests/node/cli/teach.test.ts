import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { teach } from '../../../web/dist/teach/index_node.js';
import { kHeldBack, kTexts } from '../support/lessons.js';
import { peruse } from './run_in_test.js';

const kModel = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'peruse-teach-'));
afterAll(() => rm(folder, { recursive: true }));
const train = join(folder, 'train.jsonl');
const dev = join(folder, 'dev.jsonl');
const out = join(folder, 'out');
const lines = (examples: readonly object[]) => `${examples.map((one) => JSON.stringify(one)).join('\n')}\n\n`;
await writeFile(train, lines(kTexts));
await writeFile(dev, lines(kHeldBack));

test('teaches, tells each epoch, and writes a model that classifies', async () => {
  const options = ['--method', 'full', '--epochs', '12', '--learning-rate', '2e-3', '--batch-size', '8'];
  const {
    code,
    err,
    lines: told,
  } = await peruse(['teach', 'text-classification', kModel, train, '--validation', dev, '--out', out, ...options]);
  expect({ code, told: told.length }).toEqual({ code: 0, told: 1 });
  expect(told[0]).toMatchObject({ folder: out, method: 'full', labels: ['plant', 'tool'], validation: { examples: 16 } });
  const epochs = err.trim().split('\n');
  expect(epochs).toHaveLength(12);
  expect(epochs[11]).toMatch(/^epoch 12 of 12: step 48 of 48, loss [\d.]+; held out: loss [\d.]+, accuracy [\d.]+/);
  const { lines: found } = await peruse(['classify', out, 'The rose is in the yard.', 'The hammer is in the yard.']);
  expect(found.map(({ label }) => label)).toEqual(['plant', 'tool']);
});

test('draws its steps on a terminal', async () => {
  const { err, code } = await peruse(
    ['teach', 'text-classification', kModel, train, '-o', out, '--overwrite', '--epochs', '1', '--method', 'full'],
    {
      errIsTty: true,
    },
  );
  expect(code).toBe(0);
  expect(err).toMatch(/\[#+\.*\]/);
  expect(err).toContain('training: step 2 of 2, loss ');
});

test.each([
  [['text-classification', kModel, train], 2, /--out is missing/],
  [
    ['redact', kModel, train, '-o', out],
    2,
    /<task> is text-classification or question-answering or token-classification or zero-shot-classification, not 'redact'/,
  ],
  [['text-classification', kModel], 2, /<examples\.jsonl> is missing/],
  [['text-classification', kModel, train, '-o', out, '--layers', '2'], 2, /--layers goes with --method layers/],
  [['text-classification', kModel, train, '-o', out, '--method', 'some'], 2, /--method takes head or contrast/],
  [['text-classification', kModel, join(folder, 'none'), '-o', out], 1, /none can't be read/],
  [['text-classification', kModel, train, '-o', `${out}2`, '--validation', '2'], 1, /a share between 0 and 1, not 2/],
])('%j is refused', async (args, code, message) => {
  const run = await peruse(['teach', ...args]);
  expect(run.code).toBe(code);
  expect(run.err).toMatch(message);
});

test('a line that is no JSON is named', async () => {
  const bad = join(folder, 'bad.jsonl');
  await writeFile(bad, `${JSON.stringify(kTexts[0])}\n{"text"\n`);
  expect((await peruse(['teach', 'text-classification', kModel, bad, '-o', out])).err).toMatch(
    /bad\.jsonl, line 2 is not JSON\. Each line must be an object such as/,
  );
});

test('a model in the folder is replaced only with --overwrite', async () => {
  const used = join(folder, 'used');
  await mkdir(used);
  await writeFile(join(used, 'config.json'), 'mine');
  const run = await peruse(['teach', 'text-classification', kModel, train, '-o', used]);
  expect(run.code).toBe(1);
  expect(run.err).toMatch(/used holds a model \(config\.json\): name another folder, or set overwrite to true\./);
  expect(run.err).not.toMatch(/epoch/);
  expect(await readFile(join(used, 'config.json'), 'utf8')).toBe('mine');
});

test('a model is not replaced by what was trained from it, even with --overwrite', async () => {
  const source = join(folder, 'source');
  await cp(kModel, source, { recursive: true });
  const before = await readdir(source);
  const run = await peruse(['teach', 'text-classification', source, train, '-o', source, '--overwrite', '--method', 'lora']);
  expect(run).toMatchObject({ code: 1, err: expect.stringMatching(/can't be written over the one that it is made from: .*source\./) });
  expect(run.err).not.toMatch(/epoch/);
  const lines = join(folder, 'lines.txt');
  await writeFile(lines, 'A line.\n');
  expect((await peruse(['pretrain', 'mlm', source, lines, '-o', source, '--overwrite'])).err).toMatch(/made from/);
  const taught = await teach('text-classification', source, kTexts, { method: 'head', epochs: 1 });
  await expect(taught.save(source, { overwrite: true })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/made from/),
  });
  expect(await readdir(source)).toEqual(before);
});
