// Files of a SemanticIndex that are damaged or forged: none of them becomes an index.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pipeline, pipeline, SemanticIndex } from '../../web/dist/index_node.js';

const kPrefix = 56;
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

let embed: Pipeline<'feature-extraction'>; // vectors of 8 numbers
const files = new Map<string, Uint8Array>();
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../fixtures/sentence/mean', import.meta.url));
  embed = await pipeline('feature-extraction', folder, { variant: 'simd', worker: false });
  for (const storage of ['float32', 'int8'] as const) {
    const index = new SemanticIndex(embed, { storage });
    await index.add([{ id: 'one', text: 'a b c', metadata: { kind: 'x' } }, { id: 'two', text: 'd e f' }, 'g h']);
    files.set(storage, new Uint8Array(await (await index.save()).arrayBuffer()));
  }
});
afterAll(() => embed.dispose());

const codeOf = (file: unknown) =>
  SemanticIndex.load(embed, file as Blob).then(
    () => 'loaded',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe.each(['float32', 'int8'])('%s', (storage) => {
  test('a file with one flipped bit is refused, wherever it is', async () => {
    const bytes = files.get(storage)!;
    const loaded: number[] = [];
    for (let bit = 0; bit < 8 * bytes.length; ++bit) {
      const damaged = bytes.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      const code = await codeOf(damaged);
      if (code !== 'malformed_file' && code !== 'truncated_file') loaded.push(bit);
    }
    expect(loaded).toEqual([]);
  });

  test('two exchanged rows are refused', async () => {
    const bytes = files.get(storage)!.slice();
    const row = storage === 'int8' ? 8 : 32;
    const [last, before] = [bytes.slice(-row), bytes.slice(-2 * row, -row)];
    bytes.set(last, bytes.length - 2 * row);
    bytes.set(before, bytes.length - row);
    expect(await codeOf(bytes)).toBe('malformed_file');
  });
});

interface Header {
  documents: ({ id: unknown; metadata?: unknown; index?: unknown; text?: unknown } | null)[];
  chunks: (unknown[] | null)[];
  width: number;
  options: unknown;
}

/** The file with a changed header or changed vectors, and the right digest. */
function forged(change: (header: Header, vectors: Float32Array) => void): Uint8Array {
  const bytes = files.get('float32')!;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const end = kPrefix + view.getFloat64(40, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(kPrefix, end))) as Header;
  const vectors = new Float32Array(bytes.slice(end).buffer);
  change(header, vectors);
  const json = new TextEncoder().encode(JSON.stringify(header));
  const start = new Uint8Array(kPrefix + json.length);
  start.set(bytes.subarray(0, kPrefix));
  start.set(json, kPrefix);
  new DataView(start.buffer).setFloat64(40, json.length, true);
  const body = new Uint8Array(vectors.buffer);
  start.set(sha256(Buffer.concat([sha256(start.subarray(40)), sha256(body)])), 8);
  return Buffer.concat([start, body]);
}

describe('a forged file with the right digest', () => {
  test('is read if nothing is wrong', async () => {
    expect(await codeOf(forged(() => {}))).toBe('loaded');
  });

  test.each<[string, (header: Header, vectors: Float32Array) => void]>([
    ['doubled ids', ({ documents }) => (documents[1]!.id = 'one')],
    ['an id that is an object', ({ documents }) => (documents[1]!.id = {})],
    ['an id that is null', ({ documents }) => (documents[1]!.id = null)],
    ['metadata that is a number', ({ documents }) => (documents[1]!.metadata = 3)],
    ['no number of a text', ({ documents }) => (documents[1]!.index = 'x')],
    ['a text that is null', ({ documents }) => (documents[1] = null)],
    ['a chunk that is null', ({ chunks }) => (chunks[1] = null)],
    ['a chunk beyond its text', ({ chunks }) => (chunks[1] = [1, 0, 99])],
    ['a chunk of no text', ({ chunks }) => (chunks[1] = [7, 0, 1])],
    ['options that are null', (header) => (header.options = null)],
    ['another width', (header) => (header.width = 4)],
  ])('with %s is malformed', async (_, change) => {
    expect(await codeOf(forged(change))).toBe('malformed_file');
  });

  test.each<[string, (header: Header, vectors: Float32Array) => void]>([
    ['a row that is not normalized', (_, vectors) => (vectors[9] = 7e36)],
    ['a row that is not finite', (_, vectors) => (vectors[9] = Number.NaN)],
  ])('with %s is refused', async (_, change) => {
    expect(await codeOf(forged(change))).toBe('malformed_file');
  });
});

test('a file of the earlier version says so', async () => {
  const bytes = files.get('float32')!.slice();
  bytes[6] = 1;
  await expect(SemanticIndex.load(embed, bytes)).rejects.toMatchObject({
    code: 'malformed_file',
    message: expect.stringMatching(/another version/),
  });
});

test('what can not be read is one clear error', async () => {
  const bytes = files.get('float32')!.slice();
  const buffer = bytes.buffer.slice(0);
  structuredClone(buffer, { transfer: [buffer] });
  expect(await codeOf(buffer)).toBe('invalid_argument');
  class Failing extends Blob {
    override arrayBuffer(): Promise<ArrayBuffer> {
      return Promise.reject(new DOMException('The file changed', 'NotReadableError'));
    }
  }
  await expect(SemanticIndex.load(embed, new Failing())).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/The index can't be read: The file changed/),
  });
});
