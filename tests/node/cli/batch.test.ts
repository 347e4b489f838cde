import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { csvFields, csvLine, recordsOf } from '../../../web/dist/cli/batch/records.js';
import { peruse } from './run_in_test.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kMain = join(kRoot, 'web/dist/cli/main.js');
const kSentiment = join(kRoot, 'models/peruse-sentiment-convbert-tiny');
const kTagger = join(kRoot, 'models/peruse-tagger-convbert-tiny');
const kReader = join(kRoot, 'models/peruse-reader-deberta-tiny');
const folder = mkdtempSync(join(tmpdir(), 'peruse-batch-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fileOf = (name: string, content?: string) => {
  const path = join(folder, name);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};
const jsonLines = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const kTexts = Array.from({ length: 90 }, (_, i) => `It was ${i % 3 ? 'a lovely evening' : 'awful'}, number ${i}.`);
const rows = fileOf(
  'rows.jsonl',
  kTexts.map((text, i) => `${JSON.stringify({ id: i, text, label: i % 3 ? 'POSITIVE' : 'NEGATIVE' })}\n`).join(''),
);

test('every row has a result, in order, also from several workers', async () => {
  const outputs: unknown[] = [];
  for (const workers of ['1', '2']) {
    const out = fileOf(`results${workers}.jsonl`);
    const { code, lines, err } = await peruse([
      'classify',
      kSentiment,
      '--in',
      rows,
      '--out',
      out,
      '--workers',
      workers,
      '--batch-size',
      '8',
    ]);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(lines[0]).toMatchObject({ rows: 90, errors: 0, resumed: 0 });
    const results = jsonLines(out);
    expect(results.map(({ row }) => row)).toEqual(kTexts.map((_, i) => i));
    expect(results[4]).toEqual({
      row: 4,
      input: { id: 4, text: kTexts[4], label: 'POSITIVE' },
      result: { label: expect.any(String), score: expect.any(Number) },
    });
    outputs.push(results.map(({ result }) => (result as { label: string }).label));
  }
  expect(outputs[1]).toEqual(outputs[0]);
  const single = await peruse(['classify', kSentiment, kTexts[7]!]);
  expect(single.lines[0]).toMatchObject({ label: (outputs[0] as string[])[7] });
});

test('the error of a row is its result, and the exit code is 3', async () => {
  const input = fileOf('bad.jsonl', `{"text":"Fine."}\n{"other":1}\nnot json\n{"text":"${'word '.repeat(6000)}"}\n[1]\n{"text":"Good."}`);
  const out = fileOf('bad_results.jsonl');
  const { code, err } = await peruse(['classify', kSentiment, '--in', input, '--out', out, '--workers', '1']);
  expect(code).toBe(3);
  expect(err).toContain('4 of 6 rows');
  const results = jsonLines(out);
  expect(results.map(({ error }) => (error as { code?: string })?.code)).toEqual([
    undefined,
    'invalid_argument',
    'invalid_argument',
    'text_too_long',
    'invalid_argument',
    undefined,
  ]);
  expect((results[1]!.error as { message: string }).message).toContain("no column 'text'; it has other");
});

test.each(['jsonl', 'csv'])('%s: after an interruption anywhere a second run makes the same file', async (format) => {
  const input =
    format === 'csv'
      ? fileOf('cut.csv', `id,text\n${kTexts.map((text, i) => csvLine([String(i), `${text}\nA "second" line.`], 'csv')).join('')}`)
      : rows;
  const whole = fileOf(`whole.${format}`);
  const args = (out: string) => ['classify', kSentiment, '--in', input, '--out', out, '--workers', '1', '--batch-size', '10'];
  expect((await peruse(args(whole))).code).toBe(0);
  const wanted = readFileSync(whole, 'utf8');
  const out = fileOf(`cut_results.${format}`);
  for (const share of [0, 0.004, 0.31, 0.65, 1]) {
    const note = JSON.stringify({ command: 'classify', model: kSentiment, input, options: {} });
    writeFileSync(out, wanted);
    writeFileSync(`${out}.job.json`, note);
    truncateSync(out, Math.floor(Buffer.byteLength(wanted) * share));
    const { code, err } = await peruse(args(out));
    expect({ share, code, err }).toMatchObject({ share, code: 0 });
    expect(readFileSync(out, 'utf8')).toBe(wanted);
  }
});

test.skipIf(process.platform === 'win32')(
  'a full disk is named with the file, and the same command goes on',
  () => {
    const out = fileOf('full_results.jsonl');
    const args = [kMain, 'classify', kSentiment, '--in', rows, '--out', out, '--workers', '1', '--batch-size', '4'];
    // A limit of the size of files, in blocks of 512 bytes, gives the errors of a full disk.
    const full = spawnSync('sh', ['-c', 'ulimit -f 4; exec "$0" "$@"', process.execPath, ...args], { encoding: 'utf8' });
    expect(full.status).toBe(1);
    expect(full.stderr).toContain(`Results can't be written to ${out}: EFBIG`);
    expect(full.stderr).toContain('the same command goes on after the last complete result');
    const again = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(again.status, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ rows: 90, errors: 0, resumed: expect.any(Number) });
    expect(jsonLines(out).map(({ row }) => row)).toEqual(kTexts.map((_, i) => i));
    const index = spawnSync(
      'sh',
      ['-c', 'ulimit -f 4; exec "$0" "$@"', process.execPath, kMain, 'index', rows, '--model', kReader, '--out', fileOf('full.bin')],
      { encoding: 'utf8' },
    );
    expect(index.stderr).toContain(`The index can't be written to ${join(folder, 'full.bin')}: EFBIG`);
  },
  60_000,
);

test('a killed process is resumed', async () => {
  const input = fileOf(
    'many.jsonl',
    Array.from({ length: 1500 }, (_, i) => `${JSON.stringify({ text: `${kTexts[i % 90]} ${i}` })}\n`).join(''),
  );
  const out = fileOf('many_results.jsonl');
  const args = [kMain, 'classify', kSentiment, '--in', input, '--out', out, '--workers', '2', '--batch-size', '4'];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  for (let size = 0; size < 20_000; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    size = (() => {
      try {
        return readFileSync(out).length;
      } catch {
        return 0;
      }
    })();
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  const { rows: count, resumed } = JSON.parse(run.stdout) as { rows: number; resumed: number };
  expect(count).toBe(1500);
  expect(resumed).toBeGreaterThan(0);
  const results = jsonLines(out);
  expect(results.map(({ row }) => row)).toEqual(Array.from({ length: 1500 }, (_, i) => i));
  expect(results.map(({ input }) => (input as { text: string }).text)).toEqual(jsonLines(input).map(({ text }) => text));
  for (const line of run.stderr
    .trim()
    .split('\n')
    .filter((text) => text !== ''))
    expect(JSON.parse(line)).toHaveProperty('rows_per_second');
}, 120_000);

test('a file that another command made is not continued', async () => {
  const out = fileOf('foreign.jsonl', 'mine\n');
  const args = ['classify', kSentiment, '--in', rows, '--out', out, '--workers', '1'];
  expect(await peruse(args)).toMatchObject({ code: 2, err: expect.stringMatching(/exists; --overwrite replaces it/) });
  expect(readFileSync(out, 'utf8')).toBe('mine\n');
  writeFileSync(`${out}.job.json`, '{}');
  expect(await peruse(args)).toMatchObject({ code: 2, err: expect.stringMatching(/begun by another command/) });
  expect((await peruse([...args, '--overwrite'])).code).toBe(0);
  expect(jsonLines(out)).toHaveLength(90);
});

describe('other commands and formats', () => {
  const csv = fileOf(
    'few.csv',
    '\ufeffid,note,question\r\n1,"Mary Johnson, of London",Who?\r\n2,"He said ""hello""\nto Peter Smith",Where?\r\n',
  );
  const fields = (path: string) =>
    readFileSync(path, 'utf8')
      .trim()
      .split(/\n(?=\d,)/)
      .map((line) => csvFields(line, 'csv'));

  test.each([
    ['redact', kTagger, [], ['redacted', 'mapping']],
    ['tag', kTagger, [], ['entities']],
    ['embed', kTagger, ['--pooling', 'mean'], ['embedding']],
    ['classify', kSentiment, ['-k', '0'], ['labels']],
    ['classify', kSentiment, [], ['label', 'score']],
    ['answer', kReader, [], ['answer', 'score', 'start', 'end']],
    ['answer', kReader, ['Who is it?'], ['answer', 'score', 'start', 'end']],
  ] as const)('%s from CSV', async (command, model, args, columns) => {
    const out = fileOf(`few_${command}_${args.length}.csv`);
    const { code, err } = await peruse([command, model, ...args, '--in', csv, '--column', 'note', '--out', out, '--workers', '1']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [header, first, second] = fields(out);
    expect(header).toEqual(['id', 'note', 'question', ...columns, 'error']);
    expect(first![1]).toBe('Mary Johnson, of London');
    expect(second![1]).toBe('He said "hello"\nto Peter Smith');
    expect(first![3]).not.toBe('');
    expect(first!.at(-1)).toBe('');
  });

  test('standard input and output', async () => {
    const { code, lines, err } = await peruse(['redact', '--without-model', '--in', '-', '--workers', '1'], {
      input: ['{"text":"Mail a@example.org"}'],
    });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: [
        {
          row: 0,
          input: { text: 'Mail a@example.org' },
          result: { redacted: 'Mail [EMAIL_1]', mapping: { '[EMAIL_1]': 'a@example.org' } },
        },
      ],
    });
    expect(JSON.parse(err)).toMatchObject({ rows: 1, errors: 0 });
  });

  test('flags of redact', async () => {
    const text = 'Mail a@example.org, card 4111 1111 1111 1111.';
    expect((await peruse(['redact', '--without-model', '--pattern-types', 'CARD', text])).out).toBe('Mail a@example.org, card [CARD_1].\n');
    expect((await peruse(['redact', '--without-model', text])).out).toBe('Mail [EMAIL_1], card [CARD_1].\n');
    expect(await peruse(['redact', '--without-model', '--fail-closed', 'half \ud800 of it'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/fail_closed/),
    });
    expect(await peruse(['redact', '--without-model', '--labels', 'person', text])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/labels is an option of models/),
    });
  });

  test('wrong usage', async () => {
    for (const args of [
      ['--in', rows, 'a text'],
      ['--out', 'x'],
      ['--in', rows, '--workers', '0'],
      ['--in', rows, '--batch-size', 'x'],
    ]) {
      expect((await peruse(['classify', kSentiment, ...args])).code).toBe(2);
    }
    expect((await peruse(['classify', kSentiment, '--in', join(folder, 'nowhere.jsonl')])).code).toBe(1);
    expect(
      (await peruse(['classify', kSentiment, '--in', csv, '--out', fileOf('x.csv'), '--column', 'nothing', '--workers', '1'])).code,
    ).toBe(3);
  });
});

describe('evaluate', () => {
  test('labels', async () => {
    const results = fileOf(
      'labels.jsonl',
      `${['a a', 'a b', 'b b', 'b b']
        .map((pair, row) => `${JSON.stringify({ row, input: { gold: pair[0] }, result: { label: pair[2], score: 1 } })}\n`)
        .join('')}{"row":4,"input":{"gold":"b"},"error":{"code":"empty_text","message":"x"}}\n`,
    );
    const { code, lines } = await peruse(['evaluate', results, '--gold', 'gold']);
    expect(code).toBe(0);
    expect(lines[0]).toEqual({
      rows: 5,
      errors: 1,
      accuracy: 0.6,
      labels: { a: { precision: 1, recall: 0.5, f1: 0.6667, count: 2 }, b: { precision: 0.6667, recall: 0.6667, f1: 0.6667, count: 3 } },
    });
  });

  test('answers and entities', async () => {
    const answers = fileOf(
      'answers.jsonl',
      '{"row":0,"input":{"gold":"a hollow oak"},"result":{"answer":"The hollow oak."}}\n{"row":1,"input":{"gold":"red"},"result":{"answer":"red wine"}}\n',
    );
    expect((await peruse(['evaluate', answers, '--gold', 'gold'])).lines[0]).toEqual({
      rows: 2,
      errors: 0,
      exact_match: 0.5,
      f1: 0.8333,
    });
    const entities = fileOf(
      'entities.jsonl',
      `${JSON.stringify({
        row: 0,
        input: {
          gold: [
            { label: 'P', start: 0, end: 4 },
            { label: 'P', start: 9, end: 12 },
          ],
        },
        result: [
          { entity_group: 'P', start: 0, end: 4 },
          { entity_group: 'L', start: 9, end: 12 },
        ],
      })}\n`,
    );
    expect((await peruse(['evaluate', entities, '--gold', 'gold'])).lines[0]).toMatchObject({
      rows: 1,
      precision: 0.5,
      recall: 0.5,
      f1: 0.5,
      labels: { L: { precision: 0 } },
    });
    expect((await peruse(['evaluate', answers, '--gold', 'other'])).code).toBe(1);
    expect((await peruse(['evaluate', answers])).code).toBe(2);
  });
});

test('records of any form survive any division into chunks', async () => {
  const text = 'a,b\r\n"1, ""one""","x\ny"\n\n2,\n"ü€😀",é';
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, 100]) {
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    };
    const found: string[][] = [];
    let end = 0;
    for await (const record of recordsOf(chunks(), 'csv')) {
      found.push(csvFields(record.text, 'csv'));
      end = record.end;
    }
    expect(found).toEqual([
      ['a', 'b'],
      ['1, "one"', 'x\ny'],
      ['2', ''],
      ['ü€😀', 'é'],
    ]);
    expect(end).toBe(bytes.length);
  }
  expect(csvLine(['a', 'b,c', 'd"e', 'f\n'], 'csv')).toBe('a,"b,c","d""e","f\n"\n');
  expect(csvFields('a\t"b\tc"', 'tsv')).toEqual(['a', 'b\tc']);
  expect(() => csvFields('"a', 'csv')).toThrow();
  expect(() => csvFields('"a"b', 'csv')).toThrow();
});
