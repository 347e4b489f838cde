import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { kLines } from '../support/lessons.js';
import { peruse } from './run_in_test.js';

const kModel = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'peruse-pretrain-'));
afterAll(() => rm(folder, { recursive: true }));
const text = join(folder, 'text.txt');
const out = join(folder, 'out');
await writeFile(text, `${kLines.join('\r\n')}\n\n`);

test('reads lines, tells each epoch, and writes a model that goes on', async () => {
  const args = ['--validation', '0.2', '--epochs', '2', '--learning-rate', '1e-3', '--batch-size', '8', '--out', out];
  const run = await peruse(['pretrain', 'mlm', kModel, text, ...args]);
  expect({ code: run.code, told: run.lines.length }).toEqual({ code: 0, told: 1 });
  expect(run.lines[0]).toMatchObject({ folder: out, method: 'full', examples: 32, validation_examples: 8 });
  expect(run.err.trim().split('\n')[1]).toMatch(/^epoch 2 of 2: step 8 of 8, loss [\d.]+; held out: loss [\d.]+, accuracy [\d.]+/);
  const rtd = await peruse(['pretrain', 'rtd', out, text, '--epochs', '1', '--out', join(folder, 'rtd'), '--generator', out]);
  expect(rtd.err).toMatch(/^epoch 1 of 1: step 3 of 3, loss [\d.]+/);
  expect(rtd.lines[0]).toMatchObject({ epochs: [{ loss: expect.any(Number), generator_loss: expect.any(Number) }] });
});

test.each([
  [['mlm', kModel, text], 2, /--out is missing/],
  [['clm', kModel, text, '-o', out], 2, /pretrain takes mlm or rtd, not 'clm'/],
  [['mlm', kModel], 2, /<text\.txt> is missing/],
  [['mlm', kModel, text, 'more', '-o', out], 2, /'more' is one argument too many/],
  [['mlm', kModel, text, '-o', out, '--epochs', 'x'], 2, /--epochs takes a number/],
  [['mlm', kModel, join(folder, 'none'), '-o', out], 1, /none can't be read/],
  [['mlm', kModel, text, '-o', join(folder, 'none'), '--generator', kModel], 1, /generator is for 'rtd'/],
])('%j is refused', async (args, code, message) => {
  const run = await peruse(['pretrain', ...args]);
  expect(run.code).toBe(code);
  expect(run.err).toMatch(message);
});
