import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { Tokenizer } from '../../web/dist/index_tokenizer_node.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { trimCheckpoint } from '../../web/dist/quantize/trim.js';
import { peruse } from './cli/run_in_test.js';
import { type Files, splitSafetensors } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';
import { type ToyKind, toyTexts, toyTokenizer } from './support/toy_tokenizers.js';

const kSentiment = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny/', import.meta.url));
const kKinds: ToyKind[] = ['Unigram', 'WordPiece', 'BPE', 'ByteLevel'];
const encoder = new TextEncoder();

let root: string;
let folders = 0;
const newFolder = () => join(root, `${++folders}`);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-trim-'));
});
afterAll(() => rm(root, { recursive: true }));

async function toyModel(kind: ToyKind, seed: number, name = 'bert-masked-lm'): Promise<Files> {
  const { files } = await readTiny(name);
  return { ...(files as Files), 'tokenizer.json': encoder.encode(toyTokenizer(kind, seed)) };
}

async function json(folder: string, name: string) {
  return JSON.parse(await readFile(join(folder, name), 'utf8'));
}

function piecesBy(tokenizer: Tokenizer, vocabulary: Record<string, number>) {
  const names = new Map(Object.entries(vocabulary).map(([piece, id]) => [id, piece]));
  return (text: string) => [...tokenizer.encode(text).ids].map((id) => names.get(id)!);
}

describe.each(kKinds)('%s', (kind) => {
  test('a text whose pieces are all kept gets the same pieces', async () => {
    for (const seed of [1, 2, 3]) {
      const files = await toyModel(kind, seed);
      const folder = newFolder();
      const report = await trimCheckpoint(files, folder, { texts: toyTexts(6, seed), held_out: toyTexts(200, seed + 100), force: true });
      expect(report.piecesBefore).toBe(48);
      expect(report.piecesAfter).toBeLessThan(48);
      const [before, after] = [await Tokenizer.from_pretrained(files), await Tokenizer.from_pretrained(folder)];
      const [old, now] = [JSON.parse(new TextDecoder().decode(files['tokenizer.json'])), await json(folder, 'tokenizer.json')].map(
        vocabularyOf,
      );
      const [piecesBefore, piecesAfter] = [piecesBy(before, old!), piecesBy(after, now!)];
      const kept = new Set(Object.keys(now!));
      let same = 0;
      let changed = 0;
      for (const text of toyTexts(200, seed + 100)) {
        const pieces = piecesBefore(text);
        const isSame = JSON.stringify(piecesAfter(text)) === JSON.stringify(pieces);
        const covered = pieces.every((piece) => kept.has(piece)) && !(kind === 'WordPiece' && pieces.includes('<unk>'));
        if (covered) expect(piecesAfter(text), text).toEqual(pieces);
        if (isSame) same += 1;
        else changed += 1;
      }
      expect(same).toBeGreaterThan(10);
      expect({ heldOut: report.heldOut, changed: report.changed }).toEqual({ heldOut: 200, changed });
      before.dispose();
      after.dispose();
    }
  });

  test('ids of special tokens, padding and configuration follow', async () => {
    const files = await toyModel(kind, 4);
    const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as Record<string, unknown>;
    const big = { ...config, pad_token_id: 0, eos_token_id: 47 };
    const folder = newFolder();
    const model = { ...files, 'config.json': encoder.encode(JSON.stringify(big)) };
    const { piecesAfter } = await trimCheckpoint(model, folder, { texts: toyTexts(3, 4) });
    const written = await json(folder, 'config.json');
    expect(written).toMatchObject({ vocab_size: piecesAfter, pad_token_id: 0, eos_token_id: expect.any(Number) });
    const old = Object.entries(vocabularyOf(JSON.parse(new TextDecoder().decode(files['tokenizer.json'])))).find(([, id]) => id === 47)![0];
    const now = await json(folder, 'tokenizer.json');
    expect(vocabularyOf(now)[old]).toBe(written.eos_token_id);
    expect(now.added_tokens.map(({ id, content }: { id: number; content: string }) => [content, id])).toEqual([
      ['<pad>', 0],
      ['<unk>', 1],
      ['<s>', 2],
      ['</s>', 3],
    ]);
    const { header } = splitSafetensors(new Uint8Array(await readFile(join(folder, 'model.safetensors'))));
    expect(header['bert.embeddings.word_embeddings.weight']!.shape[0]).toBe(piecesAfter);
  });

  test('the numbers of a text whose pieces are kept are the same', async () => {
    const texts = toyTexts(5, 9);
    const files = await toyModel(kind, 9);
    const folder = newFolder();
    await trimCheckpoint(files, folder, { texts, held_out: [] });
    const vectors = async (model: Files | string) => {
      const embed = await pipeline('feature-extraction', model, { variant: 'simd' });
      const found = await embed(texts, { pooling: 'mean' });
      await embed.dispose();
      return found.tolist();
    };
    expect(await vectors(folder)).toEqual(await vectors(files));
  });
});

function vocabularyOf({ model }: { model: { vocab: [string, number][] | Record<string, number> } }): Record<string, number> {
  return Array.isArray(model.vocab) ? Object.fromEntries(model.vocab.map(([piece], id) => [piece, id])) : model.vocab;
}

test('a script keeps all of its pieces', async () => {
  const files = await toyModel('Unigram', 5);
  const all = await trimCheckpoint(files, newFolder(), { keep_scripts: ['Latin'], held_out: toyTexts(50, 1), force: true });
  expect(all).toMatchObject({ piecesAfter: 48, changed: 0 });
  const few = await trimCheckpoint(files, newFolder(), { keep_scripts: ['Cyrillic'], held_out: toyTexts(50, 1), force: true });
  expect(few.piecesAfter).toBeLessThan(20);
  expect(few.changed).toBeGreaterThan(10);
});

test('with scripts, punctuation and currency signs are kept, too', async () => {
  const heldOut = ['It costs £5 – “cheap”, isn’t it?', 'A film for €4.'];
  const { changed, piecesAfter } = await trimCheckpoint(kSentiment, newFolder(), { keep_scripts: ['Latin'], held_out: heldOut });
  expect(changed).toBe(0);
  expect(piecesAfter).toBeLessThan(8000);
});

test('pieces that the post-processor inserts are kept, and tokenizer_config.json names kept tokens only', async () => {
  const files = await toyModel('WordPiece', 7);
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json']));
  const [piece] = Object.entries(vocabularyOf(tokenizer)).find(([, id]) => id === 40)!;
  const single = [{ SpecialToken: { id: piece, type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }];
  const special = { [piece]: { id: piece, ids: [40], tokens: [piece] } };
  const pair = [...single, { Sequence: { id: 'B', type_id: 1 } }];
  tokenizer.post_processor = { type: 'TemplateProcessing', single, pair, special_tokens: special };
  const config = { added_tokens_decoder: { 0: { content: '<pad>' }, 41: { content: 'x' } } };
  const model = { ...files, 'tokenizer.json': JSON.stringify(tokenizer), 'tokenizer_config.json': JSON.stringify(config) };
  const folder = newFolder();
  const bytes = Object.fromEntries(
    Object.entries(model).map(([name, content]) => [name, typeof content === 'string' ? encoder.encode(content) : content]),
  );
  await trimCheckpoint(bytes, folder, { keep_scripts: ['Greek'], held_out: [] });
  const written = await json(folder, 'tokenizer.json');
  expect(written.post_processor.special_tokens[piece].ids).toEqual([vocabularyOf(written)[piece]]);
  expect((await json(folder, 'tokenizer_config.json')).added_tokens_decoder).toEqual({ 0: { content: '<pad>' } });
});

test('what is unclear is refused', async () => {
  const files = await toyModel('BPE', 6);
  const refuses = async (model: Files, options: object, error: object) =>
    expect(trimCheckpoint(model, newFolder(), options as { texts: string[] })).rejects.toMatchObject(error);
  await refuses(files, {}, { code: 'invalid_argument' });
  await refuses(files, { keep_scripts: ['Latein'] }, { code: 'invalid_argument', message: expect.stringContaining('Latein') });
  const { 'tokenizer.json': _, ...without } = files;
  await refuses(
    { ...without, 'vocab.txt': encoder.encode('[UNK]') },
    { texts: ['a'] },
    { code: 'unsupported', message: expect.stringContaining('tokenizer.json') },
  );
  const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
  const odd = encoder.encode(JSON.stringify({ ...config, vocab_size: 8 }));
  await refuses(
    { ...files, 'config.json': odd },
    { texts: ['a'] },
    { code: 'unsupported', message: expect.stringContaining('vocab_size') },
  );
  const wordLevel = encoder.encode(toyTokenizer('BPE', 1).replace('"type":"BPE"', '"type":"WordLevel"'));
  await refuses(
    { ...files, 'tokenizer.json': wordLevel },
    { texts: ['a'] },
    { code: 'unsupported', message: expect.stringContaining('WordLevel') },
  );
});

test('shrink writes a folder ready to host, measures the difference, and loses no file', async () => {
  const source = newFolder();
  const { cp } = await import('node:fs/promises');
  await cp(kSentiment, source, { recursive: true });
  await mkdir(join(source, 'extra'));
  await writeFile(join(source, 'extra/prompts.txt'), 'x');
  await writeFile(join(source, 'adapter_config.json'), '{}');
  await writeFile(join(source, 'adapter_model.safetensors'), 'weights of an adapter');
  await writeFile(join(source, 'tf_model.h5'), 'the same weights for TensorFlow');
  await writeFile(join(source, 'notes.json'), '<p>'); // any file is copied, whatever it holds
  await writeFile(join(root, 'secret.txt'), 'x');
  await symlink(join(root, 'secret.txt'), join(source, 'link.txt'));
  await writeFile(join(source, 'README.md'), '# The model\n');
  const texts = [
    'A good film.',
    'A bad film, sadly.',
    'It was fine.',
    'I would not see it again.',
    'Great!',
    'Dull.',
    'So so.',
    'Warm and kind.',
    'No.',
    'A fine cast.',
  ];
  const folder = `./${relative('.', newFolder())}`;
  const report = await shrinkCheckpoint(`./${relative('.', source)}/`, folder, { texts, compare: texts, force: true });
  expect(report.bytesAfter).toBeLessThan(0.5 * report.bytesBefore);
  expect(report.trimmed!.piecesAfter).toBeLessThan(1000);
  expect(report.difference).toMatchObject({ texts: 10 });
  expect(report.difference!.meanCosine).toBeGreaterThan(0.98);
  expect(report.difference!.otherLabels).toBeLessThan(3);
  const written = await readdir(folder, { recursive: true });
  const adapter = ['adapter_config.json', 'adapter_model.safetensors'];
  expect(written).toEqual(
    expect.arrayContaining(['extra/prompts.txt', ...adapter, 'config.json', 'tokenizer.json', 'model.safetensors', 'README.md']),
  );
  expect(written).toContain('notes.json');
  expect(written).not.toContain('tf_model.h5');
  expect(written).not.toContain('link.txt');
  expect(await json(folder, 'config.json')).toMatchObject({ vocab_size: report.trimmed!.piecesAfter });
  const card = await readFile(join(folder, 'README.md'), 'utf8');
  expect(card).toMatch(/^# The model\n\n## What was changed\n/);
  expect(card).toContain(`${report.trimmed!.piecesAfter} of 8000 pieces`);
  expect(card).toContain(`- Made of ${basename(source)}, file model.safetensors, by`);
  const classify = await pipeline('text-classification', folder);
  expect(classify.info.dtype).toBe('q8');
  await classify.dispose();

  const smaller = newFolder();
  const packed = await shrinkCheckpoint(source, smaller, { texts, compare: texts, dtype: 'q4', force: true });
  expect(packed.bytesAfter).toBeLessThan(report.bytesAfter);
  expect(packed.difference!.meanCosine).toBeGreaterThan(0.97);
  expect(await readFile(join(smaller, 'README.md'), 'utf8')).toContain('token embeddings of 4 bits');
  const again = await pipeline('text-classification', smaller);
  expect(again.info.dtype).toBe('q4');
  await again.dispose();
});

test("shrink follows the links of the hub's cache", async () => {
  const model = newFolder();
  const snapshot = join(model, 'snapshots/0123');
  await mkdir(snapshot, { recursive: true });
  await mkdir(join(model, 'blobs'));
  const names = (await readdir(kSentiment)).filter((name) => !name.startsWith('.'));
  for (const name of [...names, 'prompts.txt']) {
    await writeFile(join(model, 'blobs', `hash-of-${name}`), name === 'prompts.txt' ? 'x' : await readFile(join(kSentiment, name)));
    await symlink(join('../../blobs', `hash-of-${name}`), join(snapshot, name));
  }
  const folder = newFolder();
  await shrinkCheckpoint(snapshot, folder);
  expect(await readdir(folder)).toContain('prompts.txt');
});

test('the commands trim and shrink', async () => {
  const corpus = join(root, 'corpus.txt');
  await writeFile(corpus, ['A good film.', '', 'A bad film.', 'It is long.'].join('\n'));
  const folder = newFolder();
  const { code, err, lines } = await peruse(['trim', kSentiment, folder, '--texts', corpus, '--held-out', corpus]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(lines[0]).toMatchObject({ folder, piecesBefore: 8000, heldOut: 3, changed: 0 });
  const small = newFolder();
  expect((await peruse(['shrink', kSentiment, small, '--compare', corpus])).lines[0]).toMatchObject({ difference: { texts: 3 } });
  const smaller = newFolder();
  expect((await peruse(['shrink', kSentiment, smaller, '--dtype', 'q4'])).code).toBe(0);
  expect((await stat(join(smaller, 'model.safetensors'))).size).toBeLessThan((await stat(join(small, 'model.safetensors'))).size);
  expect((await peruse(['shrink', kSentiment, newFolder(), '--dtype', 'keep'])).lines[0]).toMatchObject({ quantized: 0 });
  expect((await peruse(['shrink', kSentiment, newFolder(), '--dtype', 'q5'])).err).toContain('--dtype is q8, q4 or keep, not q5');
  expect((await peruse(['trim', kSentiment, newFolder(), '--texts', join(root, 'none.txt')])).code).toBe(1);
  const empty = join(root, 'empty.txt');
  await writeFile(empty, '\n\n');
  expect((await peruse(['shrink', kSentiment, newFolder(), '--compare', empty])).err).toContain('compare has no texts');
  for (const command of ['trim', 'shrink']) {
    expect((await peruse([command, kSentiment, newFolder(), '--texts', empty])).err).toContain('Trimming needs texts');
  }
});

test('a vocabulary that does not fit the held-out texts is refused, unless the caller forces it or keeps the most frequent pieces', async () => {
  const files = await toyModel('Unigram', 1);
  const options = { texts: toyTexts(3, 1), held_out: toyTexts(200, 101) };
  const folder = newFolder();
  await expect(trimCheckpoint(files, folder, options)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/of 200 held-out texts would be split into other pieces.*force/),
  });
  expect(existsSync(folder)).toBe(false);
  await expect(shrinkCheckpoint(files, folder, options)).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await trimCheckpoint(files, newFolder(), { ...options, force: true })).changed).toBeGreaterThan(40);
  const all = await trimCheckpoint(files, newFolder(), { ...options, least_pieces: 48 });
  expect(all).toMatchObject({ piecesAfter: 48, changed: 0 });
  await expect(trimCheckpoint(files, folder, { ...options, least_pieces: -1 })).rejects.toMatchObject({ code: 'invalid_argument' });
  const corpus = join(root, 'few.txt');
  await writeFile(corpus, 'A line.\n');
  const held = join(root, 'held.txt');
  await writeFile(held, 'Quite other words appear in these texts.\n');
  const args = ['trim', kSentiment, newFolder(), '--texts', corpus, '--held-out', held];
  expect(await peruse(args)).toMatchObject({ code: 1, err: expect.stringMatching(/1 of 1 held-out texts/) });
  expect((await peruse([...args, '--force'])).code).toBe(0);
});
