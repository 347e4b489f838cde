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
  [['text-classification', kModel], 2, /<examples> is missing/],
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
    /bad\.jsonl, line 2: The line is not JSON: .* Each line must be an object such as/,
  );
});

const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;

test.each([
  ['csv', ','],
  ['tsv', '\t'],
])('examples in a .%s file are those of JSON lines', async (extension, separator) => {
  const file = join(folder, `train.${extension}`);
  const rows = kTexts.map(({ text, label }) => [cell(`${text}\n"Really"`), label as string, ''].join(separator));
  await writeFile(file, `\ufeff${[['text', 'label', 'text_pair'].join(separator), ...rows].join('\r\n')}\r\n`);
  const same = join(folder, 'same.jsonl');
  await writeFile(same, lines(kTexts.map((one) => ({ ...one, text: `${one.text}\n"Really"` }))));
  const run = async (examples: string) => {
    const { code, lines: told } = await peruse([
      'teach',
      'text-classification',
      kModel,
      examples,
      '-o',
      out,
      '--overwrite',
      '--method',
      'head',
    ]);
    return { code, accuracy: told[0].accuracy, l2: told[0].l2, examples: told[0].examples };
  };
  expect(await run(file)).toEqual({ ...(await run(same)), code: 0, examples: kTexts.length });
});

test('cells of ranges are JSON', async () => {
  const file = join(folder, 'names.csv');
  const spans = (start: number) => cell(JSON.stringify([{ start, end: start + 3, label: 'NAME' }]));
  await writeFile(file, `entities,text\n${spans(0)},Zoe is here\n${spans(3)},Is Ada here\n[],Nobody is here\n`);
  const run = await peruse(['teach', 'token-classification', kModel, file, '-o', out, '--overwrite', '--epochs', '1']);
  expect({ code: run.code, told: run.lines[0] }).toMatchObject({ code: 0, told: { examples: 3, labels: ['O', 'B-NAME', 'I-NAME'] } });
});

test.each([
  ['text,kind\na,b\n', /The first line of .*wrong\.csv must name the columns text, label; it is text, kind\./],
  ['text,label\na,b\n\n"c\nd",e,f\n', /wrong\.csv, line 4: The row has 3 fields, and the first 2\./],
  ['text,label,probabilities\na,,[1\n', /wrong\.csv, line 2: probabilities must be JSON\./],
])('a table %j is refused', async (content, message) => {
  const file = join(folder, 'wrong.csv');
  await writeFile(file, content);
  expect((await peruse(['teach', 'text-classification', kModel, file, '-o', `${out}3`])).err).toMatch(message);
});

test('a model that is not there is said to have been looked up on the hub', async () => {
  const { err } = await peruse(['teach', 'text-classification', 'nofolder', train, '-o', `${out}4`, '--offline', '--no-cache']);
  expect(err).toMatch(/There is no folder 'nofolder', so it was looked up on the hub\. Ids of the hub usually have the form user\/model\./);
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
