import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonLine, linesOf, printable } from '../../../web/src/cli/io.js';
import { peruse } from './run_in_test.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-hostile-'));
});
afterAll(() => rm(root, { recursive: true }));

async function modelWith(name: string, change: (config: Record<string, unknown>) => object): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder);
  for (const file of ['tokenizer.json', 'model.safetensors']) await writeFile(join(folder, file), await readFile(join(kSentiment, file)));
  const config = JSON.parse(await readFile(join(kSentiment, 'config.json'), 'utf8')) as Record<string, unknown>;
  await writeFile(join(folder, 'config.json'), JSON.stringify(change(config)));
  return folder;
}

describe('control characters of files and names', () => {
  const kEvil = '\x1b]0;owned\x07\u009b31m\u202e\x7f';
  const unsafe = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/u;

  test('do not reach the terminal', async () => {
    const folder = await modelWith(`m${kEvil.replaceAll('/', '')}`, (config) => ({
      ...config,
      architectures: [`A${kEvil}`],
      id2label: { 0: `bad${kEvil}`, 1: 'good' },
      label2id: undefined,
    }));
    for (const args of [
      ['inspect', folder],
      ['inspect', folder, '--json'],
      ['classify', folder, 'x', '--debug'],
      ['classify', `${folder}none`, 'x'],
      [kEvil],
    ]) {
      const { out, err } = await peruse(args);
      expect(out + err, args.join(' ')).not.toMatch(unsafe);
      expect(out + err).toContain('\\u009b');
    }
  });

  test('are escapes that JSON reads back', () => {
    expect(JSON.parse(jsonLine({ a: `${kEvil}\u{e0041}é\u200d` }))).toEqual({ a: `${kEvil}\u{e0041}é\u200d` });
    expect(printable('a\tb\nc\u200dd')).toBe('a\tb\nc\u200dd');
    expect(printable('\u{e0041}')).toBe('\\udb40\\udc41');
  });
});

describe('files and lines without end', () => {
  test('a config.json of 8 GB is refused by its length', async () => {
    const folder = await modelWith('sparse', (config) => config);
    await truncate(join(folder, 'config.json'), 8 * 2 ** 30);
    for (const command of [
      ['inspect', folder],
      ['classify', folder, 'x'],
      ['convert', folder, join(root, 'out')],
      ['tag', folder, 'x'],
    ]) {
      const { code, err } = await peruse(command);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('config.json has more than 256 MB') });
    }
  });

  test('so is a tokenizer.json, and one whose length nobody says', async () => {
    const folder = await modelWith('sparse-tokenizer', (config) => config);
    await truncate(join(folder, 'tokenizer.json'), 2 ** 30);
    expect((await peruse(['classify', folder, 'x'])).err).toContain('tokenizer.json has more than 256 MB');
  });

  test('200 million labels are not counted out', async () => {
    const folder = await modelWith('labels', ({ id2label: _, label2id: __, ...config }) => ({ ...config, num_labels: 2e8 }));
    const start = performance.now();
    const { out, code } = await peruse(['inspect', folder, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ labels: [] });
    expect(performance.now() - start).toBeLessThan(20_000);
  });

  async function lines(parts: (string | Uint8Array)[], longest?: number): Promise<string[]> {
    const stream = (async function* () {
      for (const part of parts) yield typeof part === 'string' ? new TextEncoder().encode(part) : part;
    })();
    const found: string[] = [];
    for await (const line of linesOf(stream, longest)) found.push(line);
    return found;
  }

  test('lines end as they do anywhere, wherever a stream is cut', async () => {
    expect(await lines(['a\nb\r', '\nc\rd', 'e\n\n', 'f'])).toEqual(['a', 'b', 'c', 'de', '', 'f']);
    expect(await lines(['a\r', 'b'])).toEqual(['a', 'b']);
    expect(await lines(['a\n'])).toEqual(['a']);
    expect(await lines([])).toEqual([]);
    const bytes = new TextEncoder().encode('h\u00e9\n\u{1f600}');
    expect(await lines([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(['h\u00e9', '\u{1f600}']);
  });

  test('a line without end is a typed error', async () => {
    await expect(lines(['a\n', 'b'.repeat(600), 'b'.repeat(600)], 1000)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'Line 2 of standard input has more than 1000 characters.',
    });
  });
});

test('a password in an address is neither sent nor repeated', async () => {
  for (const address of ['http://user:secret@127.0.0.1:9/model', 'http://user:secret@/', 'ftp://user:secret@a.example/m']) {
    const { err, code } = await peruse(['classify', address, 'x']);
    expect(code).toBe(1);
    expect(err).not.toContain('secret');
  }
});
