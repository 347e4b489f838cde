// Describes a checkpoint from config.json and the headers of its weights files.
import { type TensorInfo, WeightsReader } from '../engine/weights_reader.js';
import { PeruseError } from '../errors.js';
import { nodePlatform } from '../platform/platform_node.js';
import { readerModule } from '../quantize/reader_module.js';
import { UrlFolder } from '../sources/folder_url.js';
import { numberOf, parseObject } from '../sources/json.js';
import {
  completeConfig,
  explainMissing,
  findWeights,
  kEncoderConfig,
  kGlinerConfig,
  kLabelsTokenizer,
  kModules,
  kVocabularies,
  labelsEncoderOf,
  labelsHint,
  lacksEncoder,
  modulesOf,
  notFound,
} from '../sources/model_files.js';
import { openFolder } from '../sources/open_folder.js';
import { readSmall } from '../sources/read_files.js';
import { encodeHeader, tensorBytes } from '../sources/safetensors.js';
import { type MissingFile, type ModelFile, resolveSource, type SourceOptions } from '../sources/source.js';
import { nodeHostParts } from '../worker/host_parts_node.js';

export interface Checkpoint {
  config: Record<string, unknown>;
  lacks: string[];
  configBytes: Uint8Array;
  files: string[];
  /** Names of the tokenizer's files; empty if none is supported. */
  tokenizer: string[];
  tensors: Map<string, TensorInfo>;
  /** One safetensors header for all tensors of all files. */
  header: Uint8Array;
  /** Bytes of the tensors; tied ones count once. */
  bytes: number;
}

/** Opens a file. At most `firstBytes` bytes of it will be read. */
type Open = (file: string, firstBytes?: number) => Promise<ModelFile | MissingFile>;

/** Numbers of bytes to try for a header; few headers need more than the first. */
const kFirstReads = [1 << 16, 1 << 20, 1 << 27];

export interface Encoders {
  encoder?: string;
  labels_encoder?: string;
}

export async function readCheckpoint(model: string, options: SourceOptions & Encoders): Promise<Checkpoint> {
  const { encoder, labels_encoder: labelsEncoder, ...how } = options;
  const root = await opener(model, how);
  const beside = async (other: string | undefined) => (other === undefined ? undefined : opener(other, { ...how, revision: undefined }));
  const others = { encoder: await beside(encoder), labels: await beside(labelsEncoder) };
  const { open, name, content } = await findConfig(root);
  const said = parseObject(name, content);
  const files = await weightFiles(open);
  const headers = await Promise.all(files.map((file) => readHeader(open, file)));
  const tensors = new Map<string, TensorInfo>();
  headers.flat().forEach((tensor) => {
    if (tensors.has(tensor.name)) throw new PeruseError('malformed_file', `Two of the weights files have the tensor '${tensor.name}'.`);
    tensors.set(tensor.name, tensor);
  });
  const bytes = [...tensors.values()].reduce((sum, tensor) => sum + (tensor.same_as === undefined ? tensorBytes(tensor) : 0), 0);
  const tokenizer = await tokenizerFiles(others.encoder ? firstOf(open, others.encoder) : open);
  const { config, lacks } =
    name === kGlinerConfig ? await glinerConfig(said, tensors, root, others) : { config: await withEncoder(said, open), lacks: [] };
  const labels = labelsEncoderOf(config);
  if (labels !== undefined) {
    const own: Open = (name, most) => root(kLabelsTokenizer + name, most);
    const there = await tokenizerFiles(others.labels ? firstOf(own, others.labels) : own);
    if (there.length === 0) lacks.push(`${labelsHint(labels)}.`);
  }
  const configBytes = config === said ? content : new TextEncoder().encode(JSON.stringify(config));
  return {
    lacks,
    config,
    configBytes,
    files: files.map(({ name }) => name),
    tokenizer,
    tensors,
    bytes,
    header: headerOf([...tensors.values()]),
  };
}

/** Reads only the configuration. */
export async function readConfig(model: string, options: SourceOptions): Promise<Checkpoint['config']> {
  const { name, content } = await findConfig(await opener(model, options));
  return parseObject(name, content);
}

interface FoundConfig {
  open: Open;
  name: string;
  content: Uint8Array;
}

async function findConfig(open: Open): Promise<FoundConfig> {
  const config = await open('config.json');
  if (config.found) return { open, name: 'config.json', content: await readSmall(config) };
  const gliner = await open(kGlinerConfig);
  if (gliner.found) return { open, name: kGlinerConfig, content: await readSmall(gliner) };
  const modules = await open(kModules);
  const [encoder] = modules.found ? modulesOf([{ content: await readSmall(modules) }]) : [];
  if (encoder === undefined || encoder.folder === '') throw await explain(open, [config]);
  const within: Open = (name, most) => open(`${encoder.folder}/${name}`, most);
  return { open: within, name: 'config.json', content: await readSmall(found(await within('config.json'))) };
}

/** Inserts the configuration of a GLiNER2's encoder. If it is missing, the engine reports it. */
async function withEncoder(said: Record<string, unknown>, open: Open): Promise<Record<string, unknown>> {
  const file = lacksEncoder(said) ? await open(kEncoderConfig) : undefined;
  return file?.found ? { ...said, encoder_config: parseObject(kEncoderConfig, await readSmall(file)) } : said;
}

/** Inserts configurations of encoders that the file only names, if they are known, and the vocabulary size of the weights. */
async function glinerConfig(
  said: Record<string, unknown>,
  tensors: Checkpoint['tensors'],
  root: Open,
  others: { encoder: Open | undefined; labels: Open | undefined },
): Promise<{ config: Record<string, unknown>; lacks: string[] }> {
  const config = { ...said };
  const rows = tensors.get('token_rep_layer.bert_layer.model.embeddings.word_embeddings.weight')?.shape[0];
  if (labelsEncoderOf(config) === undefined && numberOf(config.vocab_size, -1) < 0 && rows !== undefined) {
    // The second to last row is the embedding of the entity marker.
    Object.assign(config, { vocab_size: rows, class_token_index: rows - 2 });
  }
  const open = (which: 'encoder' | 'labels') => {
    const folder = which === 'encoder' ? (others.encoder ? firstOf(root, others.encoder) : root) : others.labels;
    return folder?.('config.json');
  };
  try {
    return { config: await completeConfig(config, open, async (file) => ({ content: await readSmall(file) })), lacks: [] };
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'not_found') throw error;
    return { config, lacks: [error.message] };
  }
}

function firstOf(first: Open, second: Open): Open {
  return async (name, most) => {
    const own = await first(name, most);
    return own.found ? own : second(name, most);
  };
}

async function opener(model: string, options: SourceOptions): Promise<Open> {
  const spec = await resolveSource(model, options, nodePlatform.paths);
  const signal = new AbortController().signal;
  if (spec.kind === 'url' && !spec.offline) {
    const folder = new UrlFolder(spec, nodeHostParts);
    return (file, firstBytes) => folder.open(file, signal, firstBytes);
  }
  const folder = await openFolder(spec, nodeHostParts);
  return (file) => folder.open(file, signal);
}

function found(file: ModelFile | MissingFile): ModelFile {
  if (file.found) return file;
  throw notFound([file]);
}

async function isThere(open: Open, name: string): Promise<boolean> {
  const file = await open(name, 1);
  if (!file.found) return false;
  await file.close();
  return true;
}

async function tokenizerFiles(open: Open): Promise<string[]> {
  for (const names of kVocabularies) {
    const there = await Promise.all(names.map((name) => isThere(open, name)));
    if (there.every(Boolean)) return [...names];
  }
  return [];
}

function explain(open: Open, missing: readonly MissingFile[]): Promise<PeruseError> {
  return explainMissing({ open: (name) => open(name, 1) }, missing, new AbortController().signal);
}

interface WeightFile {
  name: string;
  start?: ModelFile;
}

async function weightFiles(open: Open): Promise<WeightFile[]> {
  const folder = { open: (name: string) => open(name, name.endsWith('.json') ? undefined : kFirstReads[0]) };
  const weights = await findWeights(folder, new AbortController().signal);
  if (!weights.found) throw await explain(open, weights.missing);
  if (!weights.sharded) return [{ name: weights.name, start: weights.file }];
  const { weight_map: map } = parseObject(weights.name, await readSmall(weights.file)) as { weight_map?: Record<string, string> };
  const names = [...new Set(Object.values(map ?? {}))].sort();
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && /^[\w-][\w.-]*$/.test(name))) {
    throw new PeruseError('malformed_file', `${weights.name} names no files that are weights.`);
  }
  return names.map((name) => ({ name }));
}

async function readHeader(open: Open, { name, start }: WeightFile): Promise<readonly TensorInfo[]> {
  for (const most of kFirstReads) {
    const file = most === kFirstReads[0] && start ? start : found(await open(name, most));
    const header = await readStart(name, file, most);
    if (header) return header;
  }
  throw new PeruseError('malformed_file', `${name}: the list of its tensors is longer than ${kFirstReads.at(-1)!} bytes.`);
}

async function readStart(name: string, file: ModelFile, most: number): Promise<readonly TensorInfo[] | undefined> {
  const reader = new WeightsReader(await readerModule(), name);
  try {
    let read = 0;
    for await (const chunk of file.chunks()) {
      const part = chunk.subarray(0, most - read);
      reader.feed(part);
      read += part.length;
      if (reader.header !== undefined || read >= most) return reader.header; // also stops the transfer
    }
    reader.finish(); // throws because the file is too short
    return reader.header;
  } finally {
    reader.dispose();
  }
}

function headerOf(tensors: readonly TensorInfo[]): Uint8Array {
  let at = 0;
  const entries = tensors.map((tensor) => {
    const begin = at;
    at += tensorBytes(tensor);
    return { ...tensor, begin, end: at };
  });
  return encodeHeader(entries, undefined);
}

export function elements({ shape }: Pick<TensorInfo, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}
