import { readFile } from 'node:fs/promises';

export interface NamedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export function file(name: string, content: Buffer | string): NamedFile {
  return { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) };
}

/** A tiny ConvBERT classifier with changes to its configuration. Its vocabulary has letters as words, because the fixture lacks a tokenizer. */
export async function tinyClassifier(
  changes: object = {},
  fixture = 'convbert-sequence',
): Promise<[config: NamedFile, weights: NamedFile, vocabulary: NamedFile]> {
  const folder = new URL(`../../fixtures/tiny/${fixture}/`, import.meta.url);
  const config = JSON.parse(await readFile(new URL('config.json', folder), 'utf8')) as object;
  const words = [
    '[PAD]',
    '[UNK]',
    '[CLS]',
    '[SEP]',
    '[MASK]',
    ...Array.from({ length: 43 }, (_, index) => String.fromCharCode(97 + index)),
  ];
  return [
    file('config.json', JSON.stringify({ ...config, ...changes })),
    file('model.safetensors', await readFile(new URL('model.safetensors', folder))),
    file('vocab.txt', `${words.join('\n')}\n`),
  ];
}

export const tinyNli = () =>
  tinyClassifier({
    id2label: { 0: 'contradiction', 1: 'entailment', 2: 'neutral' },
    label2id: { contradiction: 0, entailment: 1, neutral: 2 },
  });

export const tinyTagger = () => tinyClassifier({}, 'convbert-token');

export async function hugeClassifier(): Promise<NamedFile[]> {
  const [vocabularySize, embeddingSize] = [16_000_000, 256];
  const [config, { buffer }, vocabulary] = await tinyClassifier({ vocab_size: vocabularySize, embedding_size: embeddingSize });
  const header = JSON.parse(buffer.subarray(8, 8 + Number(buffer.readBigUInt64LE(0))).toString()) as Record<
    string,
    { shape: number[]; data_offsets: number[] }
  >;
  let offset = 0;
  for (const [name, tensor] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    if (name.includes('embeddings')) tensor.shape = tensor.shape.map((size) => (size === 16 ? embeddingSize : size));
    if (name.includes('word_embeddings')) tensor.shape[0] = vocabularySize;
    const end = offset + 2 * tensor.shape.reduce((product, size) => product * size, 1); // F16
    tensor.data_offsets = [offset, end];
    offset = end;
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return [config, file('model.safetensors', Buffer.concat([length, json, Buffer.alloc(1_000_000)])), vocabulary];
}
