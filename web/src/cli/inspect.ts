import { describe, type ModelDescription, type VectorDescription } from '../describe.js';
import { type TensorInfo, WeightsReader } from '../engine/weights_reader.js';
import { PeruseError, show } from '../errors.js';
import { nodeRuntime } from '../platform/platform_node.js';
import { readerModule, withModel } from '../quantize/engines.js';
import { locateModel, lookAtTokenizer, weightFiles } from '../sources/checkpoint.js';
import { FileStart } from '../sources/file_bytes.js';
import { numberOf, parseObject } from '../sources/json.js';
import { openCheckpoint } from '../sources/open_checkpoint.js';
import type { Reading } from '../sources/read_files.js';
import { resolveSource, type SourceOptions } from '../sources/source.js';
import { tensorBytes } from '../sources/weights/safetensors.js';
import { engineTask, kTaskNames, type Task } from '../tasks/tasks.js';
import { type Command, flag, needed, text } from './command.js';
import { jsonLine, printable } from './io.js';
import { kEncoderOptions, kSourceOptions } from './model_options.js';
import { megabytes } from './progress_bar.js';

export const inspect: Command = {
  summary: 'Describe a checkpoint: its type, whether Peruse runs it, its downloads and memory',
  usage: '<model>',
  details: 'Reads only config.json, the headers of the weights and the sizes of files.',
  options: {
    json: { type: 'boolean', help: 'one JSON line' },
    program: { type: 'boolean', help: "also print the model's operations, one per line, for the first task that runs" },
    ...kEncoderOptions,
    ...kSourceOptions,
  },
  async run(positionals, values, io) {
    const [model] = needed(positionals, ['model']);
    const how = {
      revision: text(values, 'revision'),
      token: text(values, 'token') ?? io.environment.HF_TOKEN,
      offline: flag(values, 'offline'),
    };
    const options = { ...how, encoder: text(values, 'encoder'), labels_encoder: text(values, 'labels-encoder') };
    const description = await describe(model, options);
    const isStatic = description.model_type === 'static';
    const isOnnx = description.downloads.every(({ weights }) => weights === 'onnx');
    const checkpoint = isOnnx || isStatic ? undefined : await readCheckpoint(model, options);
    const config = checkpoint?.config ?? (isStatic ? {} : await readConfig(model, how));
    const task = flag(values, 'program') ? runs(description)[0] : undefined;
    const program = task === undefined || !checkpoint ? undefined : (await programOf(task, checkpoint)).trimEnd().split('\n');
    if (flag(values, 'json')) {
      io.out(jsonLine({ ...asJson(description, config, checkpoint), program }));
      return;
    }
    for (const line of [...asText(model, description, config, checkpoint), ...listed(description)]) io.out(printable(line));
    if (program !== undefined) io.out(printable([`program for ${task}:`, ...program].join('\n  ')));
  },
};

function runs({ downloads }: ModelDescription): Task[] {
  return kTaskNames.filter((task) => downloads.some(({ tasks }) => tasks.includes(task)));
}

function programOf(task: Task, { configBytes }: Checkpoint): Promise<string> {
  return withModel(engineTask(task), 'auto', configBytes, (engine) => Promise.resolve(engine.program()));
}

function memoryOf({ downloads }: ModelDescription): Record<string, number> {
  return Object.fromEntries(downloads.flatMap(({ weights, dtype, memory }) => (weights === 'onnx' ? [] : [[dtype, memory]])));
}

function asJson(description: ModelDescription, config: Checkpoint['config'], checkpoint: Checkpoint | undefined): object {
  const { refused, downloads, model_type, architectures, vectors } = description;
  const running = runs(description);
  const tasks = kTaskNames.map((task) => [task, refused[task] ?? true]);
  const common = {
    model_type,
    architectures,
    runs: running.length > 0,
    tasks: Object.fromEntries(tasks),
    downloads,
    labels: labelsOf(config),
    ...(vectors && { vectors }),
  };
  if (!checkpoint) return common;
  const { files, tensors, bytes, tokenizer } = checkpoint;
  return {
    ...common,
    files,
    tokenizer,
    bytes,
    tensors: tensors.size,
    parameters: countParameters(tensors),
    dtypes: dtypes(tensors),
    memory: memoryOf(description),
  };
}

function listed({ downloads }: ModelDescription): string[] {
  return downloads.map(({ dtype, weights, file, bytes, memory, fits, cached }) => {
    const size = bytes > 0 ? `${megabytes(bytes)} MB` : 'unknown size';
    const needed = `memory ${megabytes(memory)} MB${fits ? '' : ', which does not fit into an engine'}`;
    return `  dtype ${dtype}, weights ${weights}: ${file}, ${size}${cached ? ' (no download)' : ''}, ${needed}`;
  });
}

function asText(model: string, description: ModelDescription, config: Checkpoint['config'], checkpoint: Checkpoint | undefined): string[] {
  const { refused, model_type: modelType, architectures } = description;
  const running = runs(description);
  const names = labelsOf(config);
  const ran = running.map((task) => (task === 'text-ranking' && names.length > 1 ? 'text-ranking (with the option label)' : task));
  const refusals = new Map<string, string[]>();
  for (const [task, { message }] of Object.entries(refused)) refusals.set(message, [...(refusals.get(message) ?? []), task]);
  return [
    `${model}: ${[modelType, ...architectures].join(', ')}`,
    ...sizes(config),
    ...(checkpoint ? [weights(checkpoint)] : []),
    ...(description.vectors ? [vectorsOf(description.vectors)] : []),
    ran.length > 0 ? `runs: ${ran.join(', ')}` : 'does not run',
    ...[...refusals].map(([why, tasks]) => `not: ${ran.length > 0 ? `${tasks.join(', ')}: ` : ''}${why}`),
    'weights, with the memory that they take, about; at most 1.25 times that and 16 MB while loading:',
  ];
}

/** The engine rejects more labels. */
const kMostLabels = 65_536;

/** Label names; LABEL_0, LABEL_1, ... if config.json has only their number. */
function labelsOf({ id2label, num_labels }: Checkpoint['config']): string[] {
  if (typeof id2label === 'object' && id2label !== null) {
    return Object.values(id2label).map((name) => (typeof name === 'string' ? name : show(name)));
  }
  const count = numberOf(num_labels, 2);
  return count <= kMostLabels ? Array.from({ length: count }, (_, index) => `LABEL_${index}`) : [];
}

function sizes(own: Checkpoint['config']): string[] {
  const config = { ...(own.encoder_config as Record<string, unknown> | null | undefined), ...own };
  const size = (key: string) =>
    config[key] === undefined
      ? undefined
      : `${key.replace(/^(num|max)_/, '').replaceAll('_', ' ')} ${typeof config[key] === 'object' ? 'unknown' : String(config[key])}`;
  const known = ['num_hidden_layers', 'hidden_size', 'num_attention_heads', 'intermediate_size', 'vocab_size', 'max_position_embeddings']
    .map(size)
    .filter(Boolean);
  const names = config.id2label === undefined ? [] : labelsOf(own);
  return [
    ...(known.length > 0 ? [`  ${known.join(', ')}`] : []),
    ...(names.length > 0 ? [`  labels ${names.slice(0, 12).join(', ')}${names.length > 12 ? `, and ${names.length - 12} more` : ''}`] : []),
  ];
}

function vectorsOf({ kind, dimensions, pooling, similarity, prompts }: VectorDescription): string {
  const what = {
    dense: `a vector of ${dimensions} numbers for a text`,
    sparse: `weights of up to ${dimensions} words for a text`,
    multi_vector: `a matrix for a text, ${dimensions} numbers for each token`,
  }[kind];
  const named = Object.entries(prompts).flatMap(([name, text]) => (text === '' ? [] : [`${name} ${JSON.stringify(text)}`]));
  const parts = [
    `${kind}: ${what}`,
    ...(pooling.length > 0 ? [`pooling ${pooling.join(' and ')}`] : []),
    `similarity ${similarity}`,
    ...(named.length > 0 ? [`prompts ${named.join(', ')}`] : []),
  ];
  return `  vectors ${parts.join(', ')}`;
}

function weights({ files, tensors, bytes }: Checkpoint): string {
  const millions = (countParameters(tensors) / 1e6).toFixed(1);
  const where = files.length === 1 ? files[0] : `${files.length} files`;
  return `  ${millions} million parameters in ${tensors.size} tensors (${dtypes(tensors).join(', ')}), ${megabytes(bytes)} MB in ${where}`;
}

function countParameters(tensors: Checkpoint['tensors']): number {
  return [...tensors.values()].reduce((sum, tensor) => sum + (tensor.same_as === undefined ? elements(tensor) : 0), 0);
}

function dtypes(tensors: Checkpoint['tensors']): string[] {
  return [...new Set([...tensors.values()].map(({ dtype }) => dtype))].sort();
}

// A checkpoint, from config.json and the headers of its weights files.

interface Checkpoint {
  config: Record<string, unknown>;
  configBytes: Uint8Array;
  files: string[];
  /** Names of the tokenizer's files; empty if none is supported. */
  tokenizer: readonly string[];
  tensors: Map<string, TensorInfo>;
  /** Bytes of the tensors; tied ones count once. */
  bytes: number;
}

interface Encoders {
  encoder?: string;
  labels_encoder?: string;
}

async function readCheckpoint(model: string, options: SourceOptions & Encoders): Promise<Checkpoint> {
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
async function readConfig(model: string, options: SourceOptions): Promise<Checkpoint['config']> {
  const { config } = await locateModel(await open(model, options));
  return parseObject(config.name, config.content);
}

async function open(model: string, options: SourceOptions): Promise<Reading> {
  return openCheckpoint(await resolveSource(model, options, nodeRuntime.paths), nodeRuntime, new AbortController().signal);
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

function elements({ shape }: Pick<TensorInfo, 'shape'>): number {
  return shape.reduce((product, size) => product * size, 1);
}
