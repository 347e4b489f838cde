import { env } from '../env.js';
import { PeruseError } from '../errors.js';
import { type Pipeline, pipelineOf } from '../pipeline.js';
import type { PipelineOptions, PipelineOptionsOf } from '../pipeline_options.js';
import { kOnnxDtypes } from '../precisions.js';
import type { ResolvedTask, TaskOrAlias } from '../tasks/tasks.js';
import { choice, flag, number, type Options, text, UsageError, type Values } from './command.js';
import type { Io } from './io.js';
import { printable } from './printable.js';
import { ProgressBar } from './progress_bar.js';

export const kSourceOptions: Options = {
  revision: { type: 'string', value: 'name', help: 'branch, tag or commit of a hub id (main)' },
  token: { type: 'string', value: 'token', help: 'an access token of the hub, for gated models ($HF_TOKEN)' },
  offline: { type: 'boolean', help: 'do not send requests: use cached files only' },
};

/** Folders of encoders that a GLiNER or GLiClass model only names. */
export const kEncoderOptions: Options = {
  encoder: { type: 'string', value: 'source', help: "for an old GLiNER: the model with its encoder's configuration and tokenizer" },
  'labels-encoder': { type: 'string', value: 'id', help: 'for a bi-encoder: the model with the tokenizer of its label encoder' },
};

export const kWeightsOptions: Options = {
  weights: { type: 'string', value: 'form', help: 'safetensors, onnx or auto: the files to read (auto)' },
  dtype: { type: 'string', value: 'precision', help: 'precision of ONNX files: fp32, fp16, q8, int8, uint8, q4, q4f16 or bnb4 (q8)' },
  subfolder: { type: 'string', value: 'name', help: 'the folder of ONNX files (onnx)' },
  'model-file-name': { type: 'string', value: 'name', help: 'the name of ONNX files (model)' },
};

export function weightsOptions(values: Values): Pick<PipelineOptions, 'weights' | 'dtype' | 'subfolder' | 'model_file_name'> {
  return given({
    weights: choice(values, 'weights', ['auto', 'safetensors', 'onnx'] as const),
    dtype: choice(values, 'dtype', ['auto', ...kOnnxDtypes] as const),
    subfolder: text(values, 'subfolder'),
    model_file_name: text(values, 'model-file-name'),
  });
}

export const kModelOptions: Options = {
  ...kWeightsOptions,
  dtype: {
    type: 'string',
    value: 'precision',
    help: 'precision: fp32, fp16, q8, q4; of ONNX files also int8, uint8, q4f16, bnb4 (auto)',
  },
  adapter: { type: 'string', value: 'source', help: 'a LoRA adapter (peft) to merge into the model: a folder, URL or hub id' },
  device: { type: 'string', value: 'device', help: 'cpu, webgpu or auto (cpu)' },
  threads: { type: 'string', value: 'n', help: 'number of CPU threads' },
  debug: { type: 'boolean', help: 'print the chosen build, the head and unused tensors to standard error' },
  'no-cache': { type: 'boolean', help: 'do not read or write the cache' },
  ...kEncoderOptions,
  ...kSourceOptions,
};

/** Loads the model, with progress on a terminal. `settings` are further options of the pipeline; `instance` is that of pipelineOf(). */
export async function loadModel<T extends TaskOrAlias>(
  task: T,
  model: string,
  values: Values,
  io: Io,
  settings: object = {},
  instance = 0,
): Promise<Pipeline<ResolvedTask<T>>> {
  if (flag(values, 'no-cache')) env.cache = false;
  if (flag(values, 'debug'))
    env.debug = (message) => {
      io.err(`${printable(message)}\n`);
    };
  const bar = io.errIsTty ? new ProgressBar(io) : undefined;
  const options: PipelineOptions = {
    revision: text(values, 'revision'),
    ...weightsOptions(values),
    ...given({ adapter: text(values, 'adapter'), encoder: text(values, 'encoder'), labels_encoder: text(values, 'labels-encoder') }),
    device: choice(values, 'device', ['cpu', 'webgpu', 'auto']),
    threads: number(values, 'threads'),
    token: text(values, 'token') ?? io.environment.HF_TOKEN,
    offline: flag(values, 'offline'),
    progress_callback: (progress) => bar?.show(progress),
    ...settings,
  };
  try {
    const loaded = (await pipelineOf(task, model, options as PipelineOptionsOf<T>, instance)) as Pipeline<ResolvedTask<T>>;
    if (!flag(values, 'debug')) for (const notice of loaded.info.notices) io.err(`${printable(notice)}\n`);
    return loaded;
  } finally {
    bar?.clear();
  }
}

export async function withModel<T extends TaskOrAlias>(
  task: T,
  model: string,
  values: Values,
  io: Io,
  use: (loaded: Pipeline<ResolvedTask<T>>) => Promise<void>,
  settings: object = {},
): Promise<void> {
  const loaded = await loadModel(task, model, values, io, settings);
  try {
    await use(loaded);
  } finally {
    await loaded.dispose();
  }
}

const kTextsAtOnce = 32;

/** Yields batches of texts: the arguments or, without arguments, the non-empty lines of standard input. */
export async function* textBatches(given: readonly string[], io: Io): AsyncGenerator<string[]> {
  if (given.length > 0) {
    yield [...given];
    return;
  }
  if (io.inputIsTty) throw new UsageError('no text was given, neither as an argument nor on standard input');
  let batch: string[] = [];
  for await (const line of io.lines()) {
    if (line.trim() === '') continue;
    batch.push(line);
    if (batch.length < kTextsAtOnce) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

export async function allTexts(given: readonly string[], io: Io): Promise<string[]> {
  const texts: string[] = [];
  for await (const batch of textBatches(given, io)) texts.push(...batch);
  if (texts.length === 0) throw new PeruseError('empty_text', 'Standard input has no text.');
  return texts;
}

export function given<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}
