// peruse inspect: reports whether Peruse runs a checkpoint, for which tasks, and how much memory it needs.
import { numberOf } from '../sources/json.js';
import { type Checkpoint, elements, readCheckpoint } from './checkpoint.js';
import { type Command, flag, needed, text } from './command.js';
import { kEncoderOptions, kSourceOptions } from './model_options.js';
import { jsonLine, printable } from './printable.js';
import { labelsOf, programOf, type Verdict, verdicts } from './verdict.js';

/** Bytes of memory for each `dtype`. */
type Memory = Record<'fp32' | 'fp16' | 'q8', number>;

export const inspect: Command = {
  summary: 'Say what a checkpoint is, whether Peruse runs it, and what memory it takes',
  usage: '<model>',
  details: "Reads config.json and the weights' headers, from a URL or a hub id only those bytes; sees whether a tokenizer is there.",
  options: {
    json: { type: 'boolean', help: 'one JSON line' },
    program: { type: 'boolean', help: 'also print what the model computes, a line for each operation, for the first task that runs' },
    ...kEncoderOptions,
    ...kSourceOptions,
  },
  async run(positionals, values, io) {
    const [model] = needed(positionals, ['model']);
    const checkpoint = await readCheckpoint(model, {
      revision: text(values, 'revision'),
      token: text(values, 'token') ?? io.environment.HF_TOKEN,
      local_files_only: flag(values, 'offline'),
      encoder: text(values, 'encoder'),
      labels_encoder: text(values, 'labels-encoder'),
    });
    const found = await verdicts(checkpoint);
    const memory = estimateMemory(checkpoint);
    const task = flag(values, 'program') ? found.find(({ refused }) => refused === undefined)?.task : undefined;
    const program = task === undefined ? undefined : (await programOf(task, checkpoint)).trimEnd().split('\n');
    if (flag(values, 'json')) {
      io.out(jsonLine({ ...asJson(checkpoint, found, memory), program }));
      return;
    }
    for (const line of asText(model, checkpoint, found, memory)) io.out(printable(line));
    if (program !== undefined) io.out(printable([`program for ${task}:`, ...program].join('\n  ')));
  },
};

/** Estimates the memory of the weights: matrices in the given precision, embedding tables at most as wide as in the file, others float32. */
export function estimateMemory({ config, tensors }: Checkpoint): Memory {
  const folded = foldedBytes((config.encoder_config as Record<string, unknown> | null | undefined) ?? config);
  const memory: Memory = { fp32: folded, fp16: folded, q8: folded };
  for (const [name, tensor] of tensors) {
    if (tensor.same_as !== undefined) continue; // tied weights do not need further memory
    if (/\.pos_(key_|query_|q_)?proj\./.test(name)) continue; // freed after loading
    const count = elements(tensor);
    const isMatrix = tensor.shape.length >= 2;
    const isTable = isMatrix && /embeddings\.weight$/.test(name);
    if (tensor.dtype === 'I8') {
      for (const dtype of ['fp32', 'fp16', 'q8'] as const) memory[dtype] += count;
      continue;
    }
    const half = tensor.dtype === 'F16' || tensor.dtype === 'BF16';
    memory.fp32 += count * (isTable && half ? 2 : 4);
    memory.fp16 += count * (isMatrix ? 2 : 4);
    memory.q8 += isMatrix ? count + 4 * tensor.shape[0]! : count * 4;
  }
  return memory;
}

/** Bytes of DeBERTa's relative positions, which each layer projects for keys and queries while loading, in float32. */
function foldedBytes(config: Record<string, unknown>): number {
  if (config.relative_attention !== true) return 0;
  const size = (key: string) => numberOf(config[key]);
  const buckets = size('position_buckets');
  const distances = 2 * (buckets > 0 ? buckets : Math.max(size('max_relative_positions'), size('max_position_embeddings')));
  const kinds = JSON.stringify(config.pos_att_type ?? '').match(/c2p|p2c/g)?.length ?? 0;
  return size('num_hidden_layers') * kinds * distances * size('hidden_size') * 4;
}

function asJson(checkpoint: Checkpoint, found: Verdict[], memory: Memory): object {
  const { config, files, tensors, bytes } = checkpoint;
  const parameters = countParameters(tensors);
  return {
    model_type: config.model_type,
    architectures: config.architectures,
    files,
    tokenizer: checkpoint.tokenizer,
    bytes,
    tensors: tensors.size,
    parameters,
    dtypes: dtypes(tensors),
    labels: labelsOf(checkpoint),
    runs: found.some(({ refused }) => refused === undefined),
    tasks: Object.fromEntries(found.map(({ task, refused }) => [task, refused ?? true])),
    memory,
  };
}

function asText(model: string, checkpoint: Checkpoint, found: Verdict[], memory: Memory): string[] {
  const { files, tensors, bytes } = checkpoint;
  const config = { ...(checkpoint.config.encoder_config as Record<string, unknown> | null | undefined), ...checkpoint.config };
  const parameters = countParameters(tensors);
  const size = (key: string) =>
    config[key] === undefined
      ? undefined
      : `${key.replace(/^(num|max)_/, '').replaceAll('_', ' ')} ${typeof config[key] === 'object' ? 'unknown' : String(config[key])}`;
  const sizes = ['num_hidden_layers', 'hidden_size', 'num_attention_heads', 'intermediate_size', 'vocab_size', 'max_position_embeddings']
    .map(size)
    .filter(Boolean);
  const names = config.id2label === undefined ? [] : labelsOf(checkpoint);
  const many = labelsOf(checkpoint).length !== 1;
  const runs = found
    .filter(({ refused }) => refused === undefined)
    .map(({ task }) => (task === 'text-ranking' && many ? 'text-ranking (with the option label)' : task));
  const refusals = new Map<string, string[]>();
  for (const { task, refused } of found) if (refused) refusals.set(refused.message, [...(refusals.get(refused.message) ?? []), task]);
  return [
    `${model}: ${[config.model_type, ...((config.architectures as string[] | undefined) ?? [])].join(', ')}`,
    `  ${sizes.join(', ')}`,
    ...(names.length > 0 ? [`  labels ${names.slice(0, 12).join(', ')}${names.length > 12 ? `, and ${names.length - 12} more` : ''}`] : []),
    `  ${(parameters / 1e6).toFixed(1)} million parameters in ${tensors.size} tensors (${dtypes(tensors).join(', ')}), ${megabytes(bytes)} MB in ${files.length === 1 ? files[0] : `${files.length} files`}`,
    runs.length > 0 ? `runs: ${runs.join(', ')}` : 'does not run',
    ...[...refusals].map(([why, tasks]) => `not: ${runs.length > 0 ? `${tasks.join(', ')}: ` : ''}${why}`),
    `memory for the weights, about: ${Object.entries(memory)
      .map(([dtype, size]) => `${dtype} ${megabytes(size)} MB`)
      .join(', ')}; at most 1.25 times that and 16 MB while loading`,
  ];
}

function countParameters(tensors: Checkpoint['tensors']): number {
  return [...tensors.values()].reduce((sum, tensor) => sum + (tensor.same_as === undefined ? elements(tensor) : 0), 0);
}

function dtypes(tensors: Checkpoint['tensors']): string[] {
  return [...new Set([...tensors.values()].map(({ dtype }) => dtype))].sort();
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
