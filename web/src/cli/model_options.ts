import { existsSync } from 'node:fs';
import { env } from '../env.js';
import { type ErrorCode, PeruseError } from '../errors.js';
import { pick, kSourceOptions as sourceSchema } from '../options.js';
import { type Pipeline, pipelineOf } from '../pipeline.js';
import { loadNotes } from '../pipeline_info.js';
import { kLabelReaders, kLoadOptions, type LabelReaderOptions, type PipelineOptions, type PipelineOptionsOf } from '../pipeline_options.js';
import type { WeightsOptions } from '../sources/onnx_files.js';
import { kHubId } from '../sources/source.js';
import type { ResolvedTask, TaskOrAlias } from '../tasks/tasks.js';
import { flag, needed, type Options, UsageError, type Values } from './command.js';
import { type Io, printable } from './io.js';
import { ProgressBar } from './progress_bar.js';
import { optionFlags } from './task_flags.js';

export const kSourceOptions: Options = optionFlags(sourceSchema).options;

/** Folders of encoders that a GLiNER or GLiClass model only names. */
export const kEncoderOptions: Options = optionFlags(kLabelReaders).options;

const kWeights = optionFlags<WeightsOptions>(pick(kLoadOptions, 'weights', 'dtype', 'subfolder', 'model_file_name'), {
  dtype: { value: 'precision', help: 'precision of ONNX files: fp32, fp16, q8, int8, uint8, q4, q4f16 or bnb4 (q8)' },
});
export const kWeightsOptions: Options = kWeights.options;

export function weightsOptions(values: Values) {
  return kWeights.from(values);
}

const kLoadFlags = optionFlags<PipelineOptions & LabelReaderOptions>({ ...kLoadOptions, ...kLabelReaders, ...sourceSchema });

export const kModelOptions: Options = {
  ...kLoadFlags.options,
  debug: { type: 'boolean', help: 'print the chosen build, the head and unused tensors to standard error' },
  'no-cache': { type: 'boolean', help: 'do not read or write the cache' },
};

/** The model and the other arguments. Throws UsageError if the first argument is a text. `instead` names another way to call the command. */
export function modelAndTexts(name: string, positionals: string[], instead = ''): [string, ...string[]] {
  const [model, ...texts] = needed(positionals, ['model']);
  if (!/\s/.test(model) || model.includes(':') || existsSync(model)) return [model, ...texts];
  throw new UsageError(`the first argument is the model, and '${model}' is a text: peruse ${name} <model> '${model}'${instead}`);
}

const kUnreached: readonly ErrorCode[] = ['not_found', 'network', 'offline', 'unauthorized'];

/** Adds to the error of a load from the hub that there is no such folder, because a path may have been meant. */
export function explainModel(error: unknown, models: readonly string[]): unknown {
  if (!(error instanceof PeruseError) || !kUnreached.includes(error.code)) return error;
  const model = models.find((one) => kHubId.test(one) && error.message.includes(one) && !existsSync(one));
  if (model === undefined) return error;
  const form = model.includes('/') ? '' : ' Ids of the hub usually have the form user/model.';
  const words = `There is no folder '${model}', so it was looked up on the hub.${form} ${error.message}`;
  return new PeruseError(error.code, words, { cause: error });
}

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
  const bar = io.errIsTty ? new ProgressBar(io) : undefined;
  const options: PipelineOptions = {
    token: io.environment.HF_TOKEN,
    ...kLoadFlags.from(values),
    progress_callback: (progress) => bar?.show(progress),
    ...settings,
  };
  try {
    const loaded = (await pipelineOf(task, model, options as PipelineOptionsOf<T>, instance)) as Pipeline<ResolvedTask<T>>;
    const notes = flag(values, 'debug') ? loadNotes(loaded.info, task) : loaded.info.notices;
    for (const note of notes) io.err(`${printable(note)}\n`);
    return loaded;
  } catch (error) {
    throw explainModel(error, [model]);
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
