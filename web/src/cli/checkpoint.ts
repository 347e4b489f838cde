// Describes a checkpoint from config.json and the headers of its weights files.
import { type TensorInfo, WeightsReader } from '../engine/weights_reader.js';
import { PeruseError } from '../errors.js';
import { nodePlatform } from '../platform/platform_node.js';
import { readerModule } from '../quantize/reader_module.js';
import { locateModel, lookAtTokenizer, openCheckpoint, weightFiles } from '../sources/checkpoint.js';
import { FileStart } from '../sources/file_bytes.js';
import { parseObject } from '../sources/json.js';
import type { Reading } from '../sources/read_files.js';
import { tensorBytes } from '../sources/safetensors.js';
import { resolveSource, type SourceOptions } from '../sources/source.js';
import { nodeRuntime } from '../worker/runtime_node.js';

export interface Checkpoint {
  config: Record<string, unknown>;
  configBytes: Uint8Array;
  files: string[];
  /** Names of the tokenizer's files; empty if none is supported. */
  tokenizer: readonly string[];
  tensors: Map<string, TensorInfo>;
  /** Bytes of the tensors; tied ones count once. */
  bytes: number;
}

export interface Encoders {
  encoder?: string;
  labels_encoder?: string;
}

export async function readCheckpoint(model: string, options: SourceOptions & Encoders): Promise<Checkpoint> {
  const { encoder, labels_encoder: labels, ...how } = options;
  const openOther = async (other: string | undefined) => (other === undefined ? undefined : open(other, { ...how, revision: undefined }));
  const others = { encoder: await openOther(encoder), labels: await openOther(labels) };
  const { job, config: file, weights } = await locateModel(await open(model, how), others);
  const files = await weightFiles({ ...job, folder: weights });
  const tensors = new Map<string, TensorInfo>();
  for (const name of files) {
    for (const tensor of await readHeader({ ...job, folder: weights }, name)) {
      if (tensors.has(tensor.name)) throw new PeruseError('malformed_file', `Two of the weights files have the tensor '${tensor.name}'.`);
      tensors.set(tensor.name, tensor);
    }
  }
  return {
    config: parseObject(file.name, file.content),
    configBytes: file.content,
    files,
    tokenizer: (await lookAtTokenizer(job.folder, job.signal))?.names ?? [],
    tensors,
    bytes: [...tensors.values()].reduce((sum, tensor) => sum + (tensor.same_as === undefined ? tensorBytes(tensor) : 0), 0),
  };
}

/** Reads only the configuration. */
export async function readConfig(model: string, options: SourceOptions): Promise<Checkpoint['config']> {
  const { config } = await locateModel(await open(model, options));
  return parseObject(config.name, config.content);
}

async function open(model: string, options: SourceOptions): Promise<Reading> {
  return openCheckpoint(await resolveSource(model, options, nodePlatform.paths), nodeRuntime, new AbortController().signal);
}

async function readHeader({ folder, signal }: Reading, name: string): Promise<readonly TensorInfo[]> {
  const reader = new WeightsReader(await readerModule(), name);
  try {
    const start = new FileStart((most) => folder.open(name, signal, most));
    const isRead = await start.feedTo({ feed: (bytes) => reader.feed(bytes), hasHeader: () => reader.header !== undefined });
    if (!isRead) reader.finish(); // throws, because the file is too short
    return reader.header!;
  } finally {
    reader.dispose();
  }
}

export function elements({ shape }: Pick<TensorInfo, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}
