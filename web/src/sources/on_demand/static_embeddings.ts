// Static embeddings (model2vec, sentence-transformers' StaticEmbedding) as a sentence-transformers folder that the engine reads: a table of
// token vectors, mean pooling, and normalisation if the model says so.
import { PeruseError, show } from '../../errors.js';
import { bytesOf, once } from '../file_bytes.js';
import { folderWithin, lookAt } from '../folders/look.js';
import { isObject, numberOf, parseObject } from '../json.js';
import { kModules, type ModelModule } from '../model_files.js';
import type { StaticKind } from '../onnx_part.js';
import { readSmall } from '../read_files.js';
import type { MissingFile, ModelFile, ModelFolder } from '../source.js';
import { encodeHeader, tensorBytes } from '../weights/safetensors.js';

type Json = Record<string, unknown>;

interface Tensor {
  dtype: string;
  shape: number[];
  begin: number;
  end: number;
}

interface Static {
  /** The folder of the weights and the tokenizer. */
  folder: ModelFolder;
  tokenizer: Json;
  embeddings: Tensor;
  weights: Tensor | undefined;
  mapping: Tensor | undefined;
  /** Offset of the tensors in the file. */
  bodyAt: number;
  /** The token whose vector counts as zero. */
  zero: number | undefined;
  /** Contents of the files that the engine reads, by name. */
  files: Map<string, Json | Json[]>;
}

const kWeights = 'model.safetensors';
const kConfig = 'config.json';
const kTokenizer = 'tokenizer.json';
const kPooling = '1_Pooling';
/** Modules that may follow a StaticEmbedding. */
const kSteps: readonly string[] = ['Dense', 'Dropout', 'Normalize'];
const kLongest = 1 << 20;
const kModel2VecLength = 512;
const kBlockBytes = 1 << 20;
const kWidths: Record<string, number> = { F64: 8, F32: 4, F16: 2, BF16: 2, I8: 1 };

/** Opens a folder of static embeddings. `config` is config.json of model2vec, `modules` are those of sentence-transformers. */
export async function openStatic(folder: ModelFolder, { config, modules }: StaticKind, signal: AbortSignal): Promise<ModelFolder> {
  const found = config ? await model2vec(folder, config, signal) : await staticEmbedding(folder, modules, signal);
  return {
    async open(file, by, firstBytes) {
      if (file === kWeights) return weightsOf(found, by, firstBytes);
      const content = file === kTokenizer ? found.tokenizer : found.files.get(file);
      return content === undefined ? folder.open(file, by, firstBytes) : inMemory(file, toBytes(content));
    },
    look(file, by) {
      if (file === kWeights || file === kTokenizer) return lookAt(found.folder, file, by);
      return lookAt(folder, file === kConfig && !config ? kModules : file, by);
    },
  };
}

async function model2vec(folder: ModelFolder, config: Json, signal: AbortSignal): Promise<Static> {
  const isNormalized = config.normalize === true;
  const { max_length: limit, seq_length: older } = config;
  const length = limit === null ? kLongest : numberOf(limit ?? older, kModel2VecLength) || kModel2VecLength;
  const found = await readStatic(folder, isNormalized ? [{ folder: '2_Normalize', type: 'Normalize' }] : [], length, signal);
  found.zero = unknownToken(found.tokenizer);
  if (found.zero !== undefined && !isNormalized) {
    throw new PeruseError('unsupported', 'config.json: normalize is not true; model2vec leaves out unknown tokens, which needs it here.');
  }
  return found;
}

async function staticEmbedding(root: ModelFolder, modules: StaticKind['modules'] = [], signal: AbortSignal): Promise<Static> {
  const [first, ...rest] = modules;
  const other = rest.find(({ type }) => !kSteps.includes(type));
  if (other) throw new PeruseError('unsupported', `modules.json: the module ${other.type} after a StaticEmbedding is not supported.`);
  const folder = first?.folder ? folderWithin(root, `${first.folder}/`) : root;
  return readStatic(folder, rest, kLongest, signal);
}

/** If the first bytes suffice, reads nothing of the file: its header is known. */
async function weightsOf(found: Static, signal: AbortSignal, firstBytes: number | undefined): Promise<ModelFile | MissingFile> {
  const file = await found.folder.open(kWeights, signal, firstBytes);
  if (!file.found) return file;
  const { inForm: _, ...plain } = file; // Omits inForm, because the file is cached in the server's form.
  if (firstBytes === undefined) return { ...plain, chunks: () => tableOf(found, file) };
  await file.close();
  return { ...plain, chunks: () => once(headerOf(found)), close: async () => {} };
}

/** `steps` are the modules that follow the mean of the tokens' vectors. */
async function readStatic(folder: ModelFolder, steps: readonly ModelModule[], length: number, signal: AbortSignal): Promise<Static> {
  const { header, bodyAt } = await readHeader(folder, signal);
  const { embeddings, 'embedding.weight': table, weights, mapping, ...others } = header;
  const [other] = Object.keys(others);
  const found = embeddings ?? table;
  if (other !== undefined)
    throw new PeruseError('unsupported', `${kWeights}: the tensor ${show(other)} of static embeddings is not supported.`);
  if (found?.shape.length !== 2 || kWidths[found.dtype] === undefined) {
    throw new PeruseError('unsupported', `${kWeights} has no matrix 'embeddings' of the types ${Object.keys(kWidths).join(', ')}.`);
  }
  const [rows, width] = found.shape as [number, number];
  const tokens = mapping?.shape[0] ?? weights?.shape[0] ?? rows;
  if (weights && weights.shape[0] !== tokens) throw new PeruseError('shape_mismatch', `${kWeights}: weights and mapping differ in length.`);
  if (!mapping && tokens !== rows) throw new PeruseError('shape_mismatch', `${kWeights}: weights and embeddings differ in length.`);
  const opened = await folder.open(kTokenizer, signal);
  if (!opened.found) throw new PeruseError('not_found', `Static embeddings need tokenizer.json: ${opened.where} (${opened.why}).`);
  const tokenizer = { ...parseObject(opened.where, await readSmall(opened)), post_processor: null, truncation: null, padding: null };
  const module = (type: string, path: string) => ({ type: `sentence_transformers.models.${type}`, path });
  const files = new Map<string, Json | Json[]>([
    [kConfig, { model_type: 'static', vocab_size: tokens, hidden_size: width, max_position_embeddings: kLongest, seq_length: length }],
    [kModules, [module('Transformer', ''), module('Pooling', kPooling), ...steps.map(({ type, folder: path }) => module(type, path))]],
    ['sentence_bert_config.json', { max_seq_length: length }],
    [`${kPooling}/config.json`, { word_embedding_dimension: width, pooling_mode_mean_tokens: true }],
  ]);
  return { folder, tokenizer, embeddings: found, weights, mapping, bodyAt, zero: undefined, files };
}

async function readHeader(folder: ModelFolder, signal: AbortSignal): Promise<{ header: Record<string, Tensor>; bodyAt: number }> {
  const file = await folder.open(kWeights, signal, kBlockBytes);
  if (!file.found) throw new PeruseError('not_found', `Static embeddings need ${file.where} (${file.why}).`);
  const start = await bytesOf(file, kBlockBytes);
  const length = start.length < 8 ? 0 : Number(new DataView(start.buffer, start.byteOffset).getBigUint64(0, true));
  if (length === 0 || 8 + length > start.length) throw new PeruseError('malformed_file', `${file.where} has no header of safetensors.`);
  const json = parseObject(file.where, start.subarray(8, 8 + length));
  const header: Record<string, Tensor> = {};
  for (const [name, value] of Object.entries(json)) {
    if (name === '__metadata__') continue;
    const { dtype, shape, data_offsets: offsets } = isObject(value) ? value : {};
    if (typeof dtype !== 'string' || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
      throw new PeruseError('malformed_file', `${file.where}: the header of ${show(name)} is malformed.`);
    }
    const [begin, end] = offsets as [number, number];
    if (tensorBytes({ dtype, shape }) !== end - begin)
      throw new PeruseError('malformed_file', `${file.where}: ${show(name)} has another length than its shape.`);
    header[name] = { dtype, shape, begin, end };
  }
  return { header, bodyAt: 8 + length };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** Returns the unknown token's id, because model2vec excludes it from the mean. */
function unknownToken({ model, added_tokens: added }: Json): number | undefined {
  if (!isObject(model)) return undefined;
  if (typeof model.unk_id === 'number') return model.unk_id;
  const { unk_token: token, vocab } = model;
  const known = isObject(vocab) && typeof token === 'string' ? vocab[token] : undefined;
  if (typeof known === 'number') return known;
  const own = Array.isArray(added) ? added.find((one) => isObject(one) && one.content === token) : undefined;
  return isObject(own) && typeof own.id === 'number' ? own.id : undefined;
}

function headerOf({ embeddings, mapping }: Static): Uint8Array {
  const shape: number[] = [mapping?.shape[0] ?? embeddings.shape[0]!, embeddings.shape[1]!];
  const table = { name: 'embeddings.word_embeddings.weight', dtype: 'F32', shape };
  return encodeHeader([{ ...table, begin: 0, end: tensorBytes(table) }], { format: 'pt' });
}

async function* tableOf(found: Static, file: ModelFile): AsyncGenerator<Uint8Array> {
  const { embeddings, weights, mapping, bodyAt, zero } = found;
  yield headerOf(found);
  const body = (await bytesOf(file)).subarray(bodyAt);
  for (const one of [embeddings, weights, mapping]) {
    if (one && one.end > body.length) throw new PeruseError('truncated_file', `${file.where} ended after ${bodyAt + body.length} bytes.`);
  }
  const [rows, width] = embeddings.shape as [number, number];
  const scales = weights && numbers(body, weights);
  const rowsOf = mapping && numbers(body, mapping);
  const tokens = rowsOf?.length ?? rows;
  const stored = kWidths[embeddings.dtype]! * width;
  const perBlock = Math.max(1, Math.floor(kBlockBytes / (4 * width)));
  for (let first = 0; first < tokens; first += perBlock) {
    const count = Math.min(perBlock, tokens - first);
    const block = new Float32Array(count * width);
    for (let i = 0; i < count; ++i) {
      const token = first + i;
      if (token === zero) continue;
      const row = rowsOf ? rowsOf[token]! : token;
      if (row < 0 || row >= rows) throw new PeruseError('malformed_file', `${file.where}: mapping names row ${row} of ${rows}.`);
      const begin = embeddings.begin + row * stored;
      const values = numbers(body, { ...embeddings, shape: [width], begin, end: begin + stored });
      const scale = scales ? scales[token]! : 1;
      for (let c = 0; c < width; ++c) block[i * width + c] = values[c]! * scale;
    }
    yield new Uint8Array(block.buffer);
  }
}

function numbers(body: Uint8Array, { dtype, begin, end }: Tensor): Float32Array | Float64Array | Int32Array | Int8Array {
  const bytes = body.slice(begin, end).buffer;
  switch (dtype) {
    case 'F32':
      return new Float32Array(bytes);
    case 'F64':
      return new Float64Array(bytes);
    case 'I8':
      return new Int8Array(bytes);
    case 'I32':
      return new Int32Array(bytes);
    case 'I64':
      return Float64Array.from(new BigInt64Array(bytes), Number);
    case 'F16':
      return Float32Array.from(new Uint16Array(bytes), fromHalf);
    case 'BF16':
      return new Float32Array(Uint32Array.from(new Uint16Array(bytes), (half) => half << 16).buffer);
    default:
      throw new PeruseError('unsupported', `${kWeights}: static embeddings of type ${show(dtype)} are not supported.`);
  }
}

function fromHalf(half: number): number {
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  const size =
    exponent === 0
      ? fraction * 2 ** -24
      : exponent === 31
        ? fraction === 0
          ? Infinity
          : Number.NaN
        : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -size : size;
}

function toBytes(json: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(json));
}

function inMemory(where: string, content: Uint8Array): ModelFile {
  return { found: true, where, size: content.length, version: undefined, chunks: () => once(content), close: async () => {} };
}
