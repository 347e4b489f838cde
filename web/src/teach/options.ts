import { PeruseError, show } from '../errors.js';
import { checkOptions, type Given, kSourceOptions, type Option, option, type Schema } from '../options.js';
import type { ProgressInfo } from '../progress.js';
import type { SourceOptions } from '../sources/source.js';
import type { TeachTask } from '../tasks/training.js';
import type { ProblemType, TeachExample } from './examples.js';

/**
 * The trained part: 'head' trains the head, on features that are computed once; 'contrast' the last three layers of a sentence embedder, so that
 * texts with the same label have similar vectors, then the head; `{ layers: n }` the head and the last n layers; 'lora' low-rank pairs; 'full'
 * everything.
 */
export type TeachMethod = 'head' | 'contrast' | 'lora' | 'full' | { layers: number };

/** Metrics of a model on examples. The task determines which exist. */
export interface TeachMetrics {
  loss: number;
  examples: number;
  accuracy?: number;
  /** The mean over the labels; for token classification, over whole entities. */
  f1?: number;
  mean_squared_error?: number;
  /** Rows are true labels and columns are predicted labels, in the order of the report's `labels`. */
  confusion?: number[][];
}

/** Progress of a training run. */
export interface TeachProgress {
  phase: 'loading' | 'features' | 'training' | 'validation';
  /** Number of updates so far, and in total; 0 while unknown. */
  step: number;
  steps: number;
  /** From 1; 0 before the first epoch. */
  epoch: number;
  epochs: number;
  /** Loss of the last update; null before the first. */
  loss: number | null;
  learning_rate: number;
  /** For replaced-token detection: the generator's part of the loss. */
  generator_loss?: number;
  /** Metrics on the validation examples, once per epoch. */
  validation?: TeachMetrics;
  /** During loading: a file and its bytes. */
  load?: ProgressInfo;
}

interface TeachOption<T> extends Option<T> {
  /** The engine gets the value unchanged, and checks it. */
  readonly passedOn?: true;
  /** Has an effect only on training in steps, only on such training in epochs, or only on LoRA. */
  readonly of?: 'steps' | 'epochs' | 'lora';
}

const taught = <T>(spec: TeachOption<T>): TeachOption<T> => spec;

/** The options of teach() and pretrain(), except `validation`, whose type depends on the task. */
const kTrainingOptions = {
  /** Passes over the examples. Default: enough for 150 updates, at least 3. Unused by 'contrast', and for heads of texts, which are solved directly. */
  epochs: taught<number>({ kind: 'number', default: 'at least 3', passedOn: true, of: 'epochs' }),
  /** The highest learning rate, after the warm-up. By default it depends on method and width; for 'full' it is 5e-5 at width 768. */
  learning_rate: taught<number>({ kind: 'number', default: 'by the method', passedOn: true, of: 'steps' }),
  /** Stop after this number of validations without improvement. Default 0, which means never. */
  patience: taught<number>({ kind: 'number', default: 0, passedOn: true, of: 'epochs' }),
  /** Number of examples in an update. Default 16, for 'contrast' 32. */
  batch_size: taught<number>({ kind: 'number', default: "16, for `'contrast'` 32", passedOn: true, of: 'steps' }),
  /** Maximum number of tokens in one computation; larger batches are split. Default 2048. */
  batch_tokens: taught<number>({ kind: 'number', default: 2048, passedOn: true }),
  /** Weight decay, except for biases and norms. Default 0.01. */
  weight_decay: taught<number>({ kind: 'number', default: 0.01, passedOn: true, of: 'steps' }),
  /** Share of the steps in which the learning rate rises. Default 0.1. */
  warmup: taught<number>({ kind: 'number', default: 0.1, passedOn: true, of: 'steps' }),
  /** Maximum norm of the gradient. Default 1. */
  clip: taught<number>({ kind: 'number', default: 1, passedOn: true, of: 'steps' }),
  /** Factor between the learning rates of a layer and the layer above it. Default 1. */
  layer_decay: taught<number>({ kind: 'number', default: 1, passedOn: true, of: 'steps' }),
  /** Dropout of hidden states. Default 0.1. */
  dropout: taught<number>({ kind: 'number', default: 0.1, passedOn: true, of: 'steps' }),
  /** Dropout of attention probabilities. Default 0.1. */
  attention_dropout: taught<number>({ kind: 'number', default: 0.1, passedOn: true, of: 'steps' }),
  /** Do not train token embeddings, which saves memory. Default false. */
  freeze_words: taught<boolean>({ kind: 'boolean', default: false, passedOn: true, of: 'steps' }),
  /** Maximum number of tokens: longer texts are cut, contexts are read in windows. Default: the model's limit, at most 512. */
  max_length: taught<number>({ kind: 'number', default: "the model's, at most 512", passedOn: true }),
  /** Seed of all random numbers; the same seed gives the same result. Default 42. */
  seed: taught<number>({ kind: 'number', default: 42, passedOn: true }),
  /**
   * Number of threads, 1 to 16. Default 'auto': several on an isolated page and in Node, at most `env.threads`. The result is the same to the bit;
   * `report.threads` and `report.reason` say how many there were, and why.
   */
  threads: taught<number | 'auto'>({ kind: 'other', default: "`'auto'`" }),
  /** Receives progress of loading and of every step. */
  progress_callback: taught<(progress: TeachProgress) => void>({ kind: 'function' }),
  /** Cancels the run and frees all memory immediately. The call throws an AbortError. */
  signal: taught<AbortSignal>({ kind: 'signal' }),
};

/** The options of teach() alone. */
const kTeachOnly = {
  /**
   * The trained part. Default for texts with one label each: 'head', or 'full' ('contrast' for sentence embedders), whichever is better in
   * cross-validation (`report.compared`). If that would take more than seconds, 'full' or 'contrast', or 'head' for slow models. For other tasks:
   * 'full'. 'lora' creates an adapter.
   */
  method: taught<TeachMethod>({ kind: 'other' }),
  /** Scale-invariant fine-tuning (He et al., 2020): more stable, about three times the work. `true` means a weight of 4. Default false. */
  sift: taught<boolean | { weight: number }>({ kind: 'other', default: false, of: 'steps' }),
  /**
   * The model's labels in order; for token classification, kinds of entities. Default: the model's own if they include all labels of the
   * examples, otherwise those of the examples, sorted. Labels other than the model's create a new classifier (`report.fresh`).
   */
  labels: taught<readonly string[]>({ kind: 'other' }),
  /** The meaning of labels. Default: by type (string, list of strings, number). Whole numbers require this option or `labels`. */
  problem_type: taught<ProblemType>({ kind: 'other' }),
  /** Weight of each label's examples in the loss, for texts with one label each. Default 1. */
  class_weights: taught<Readonly<Record<string, number>>>({ kind: 'other', default: 1 }),
  /** Label smoothing, for texts with one label each and for entities. Default 0. */
  label_smoothing: taught<number>({ kind: 'number', default: 0, passedOn: true }),
  /** Rank of LoRA's pairs. Default 8. */
  lora_rank: taught<number>({ kind: 'number', default: 8, passedOn: true, of: 'lora' }),
  /** Numerator of LoRA's scale, `lora_alpha / lora_rank`. Default 16. */
  lora_alpha: taught<number>({ kind: 'number', default: 16, passedOn: true, of: 'lora' }),
  /** Suffixes of the names of the linear layers that LoRA changes. Default: the layers of query and value. */
  lora_targets: taught<readonly string[]>({ kind: 'other', of: 'lora' }),
};

export const kTeachOptions = { ...kTeachOnly, ...kTrainingOptions };

/** Training options. Defaults are those of Hugging Face's Trainer unless stated otherwise. */
export interface TeachOptions<T extends TeachTask = TeachTask> extends SourceOptions, Given<typeof kTeachOptions> {
  /**
   * Examples for validation: a list, or a share to hold out, drawn from each label by the seed. The weights of the best epoch are kept. With
   * fewer than 30 texts, a share holds out nothing, and `report.accuracy` comes from cross-validation.
   */
  validation?: readonly TeachExample<T>[] | number;
}

const kEntries = Object.entries(kTeachOptions) as [keyof typeof kTeachOptions, TeachOption<unknown>][];
const kValidation = { validation: option<unknown>({ kind: 'other' }) };

/** The options that pretrain() does not have. */
export type OnlyTeachOption = keyof typeof kTeachOnly;

/** The options of teach(), or of those that pretrain() has, too. */
export function teachSchema(isPretraining = false): Schema {
  return { ...(isPretraining ? {} : kTeachOnly), ...kTrainingOptions, ...kValidation, ...kSourceOptions };
}

/** The options that only have an effect on training in steps, in epochs, or on LoRA. */
export function optionsOf(...what: NonNullable<TeachOption<unknown>['of']>[]): (keyof typeof kTeachOptions)[] {
  return kEntries.flatMap(([name, { of }]) => (of && what.includes(of) ? [name] : []));
}

/** The weight in the paper's published code. */
const kSift = 4;

const kProblems: readonly ProblemType[] = ['single_label_classification', 'multi_label_classification', 'regression'];

export function checkTeachOptions<T extends TeachTask>(given: TeachOptions<T>): TeachOptions<T> {
  const options = checkOptions(given, teachSchema(), 'teaching');
  const { labels, lora_targets: targets, problem_type: problem, class_weights: weights } = options;
  for (const [name, list] of [
    ['labels', labels],
    ['lora_targets', targets],
  ] as const) {
    if (list !== undefined && !(Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === 'string'))) {
      throw new PeruseError('invalid_argument', `${name} must be a list of strings, not ${show(list)}.`);
    }
  }
  if (problem !== undefined && !kProblems.includes(problem)) {
    throw new PeruseError('invalid_argument', `problem_type must be one of ${kProblems.join(', ')}, not ${show(problem)}.`);
  }
  if (weights !== undefined && (typeof weights !== 'object' || weights === null || !Object.values(weights).every(Number.isFinite))) {
    throw new PeruseError('invalid_argument', `class_weights must be an object with a number for each label, not ${show(weights)}.`);
  }
  return options;
}

export function engineMethod(method: TeachMethod): { method: string; layers?: number } {
  if (method === 'head' || method === 'contrast' || method === 'lora' || method === 'full') return { method };
  const { layers, ...rest } = typeof method === 'object' && method !== null ? method : { layers: undefined };
  if (Number.isInteger(layers) && layers! >= 1 && Object.keys(rest).length === 0) return { method: 'layers', layers: layers! };
  const given = typeof method === 'object' && method !== null ? JSON.stringify(method) : show(method);
  throw new PeruseError(
    'invalid_argument',
    `method must be 'head', 'contrast', 'lora', 'full' or { layers: n } with n from 1, not ${given}.`,
  );
}

/** Returns the engine's settings, except task, labels and method. */
export function engineSettings(options: TeachOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const [name, { passedOn }] of kEntries) {
    const value = options[name];
    if (!passedOn || value === undefined) continue;
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new PeruseError('invalid_argument', `${name} must be a finite number, not ${value}.`);
    settings[name] = value;
  }
  if (options.lora_targets !== undefined) settings.lora_targets = [...options.lora_targets];
  if (options.sift !== undefined) settings.sift = siftWeight(options.sift);
  if (typeof options.validation === 'number') settings.validation_split = checkShare(options.validation);
  return settings;
}

function siftWeight(sift: unknown): number {
  if (typeof sift === 'boolean') return sift ? kSift : 0;
  const { weight, ...rest } = typeof sift === 'object' && sift !== null ? (sift as { weight?: unknown }) : {};
  if (typeof weight === 'number' && Number.isFinite(weight) && Object.keys(rest).length === 0) return weight;
  throw new PeruseError('invalid_argument', `sift must be true, false or { weight: n }, not ${show(sift)}.`);
}

function checkShare(share: number): number {
  if (share > 0 && share < 1) return share;
  throw new PeruseError('invalid_argument', `validation must be a list of examples or a share between 0 and 1, not ${share}.`);
}
