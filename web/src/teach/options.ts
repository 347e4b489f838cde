// The options of teach(), and what the engine gets of them.
import { PeruseError, show } from '../errors.js';
import { checkLoadOptions, type OptionKind } from '../load_options.js';
import type { ProgressInfo } from '../progress.js';
import type { SourceOptions } from '../sources/source.js';
import type { ProblemType, TeachExample, TeachTask } from './examples.js';

/** The trained part: the head, on features that are computed once; the head and the last layers; low-rank pairs; or everything. */
export type TeachMethod = 'head' | 'lora' | 'full' | { layers: number };

/** Metrics of a model on examples. The task determines which exist. */
export interface TeachMetrics {
  loss: number;
  examples: number;
  accuracy?: number;
  /** The mean over the labels; of entities, whole ones. */
  f1?: number;
  mean_squared_error?: number;
  /** Rows are the true labels, columns the predicted ones, in the order of the report's `labels`. */
  confusion?: number[][];
}

/** How far it has come. */
export interface TeachProgress {
  phase: 'loading' | 'features' | 'training' | 'validation';
  /** Updates so far, of so many; 0 while that is not known. */
  step: number;
  steps: number;
  /** From 1; 0 before the first. */
  epoch: number;
  epochs: number;
  /** Loss of the last update; null before the first. */
  loss: number | null;
  learning_rate: number;
  /** Replaced-token detection: the generator's part of the loss. */
  generator_loss?: number;
  /** Once an epoch, where there are examples for it. */
  validation?: TeachMetrics;
  /** While loading: a file and its bytes. */
  load?: ProgressInfo;
}

/** Training options. Defaults are those of Hugging Face's Trainer unless stated otherwise. */
export interface TeachOptions<T extends TeachTask = TeachTask> extends SourceOptions {
  /**
   * What is trained. Default: for texts with one label each, 'head' or 'full', whichever cross-validation finds better where that takes seconds
   * (`report.compared`), else 'full', but 'head' of a sentence embedder and of models that would take minutes; for other tasks 'full'.
   * 'lora' keeps the model and gives an adapter.
   */
  method?: TeachMethod;
  /** Passes over the examples. Default: as many as make 150 updates, at least 3. Unused by 'head' for texts, which is solved directly. */
  epochs?: number;
  /** The highest, after the warm-up. Default: by the method and the model's width, see docs/teach.md: for 'full' 5e-5 at 768, 1e-3 at 128. */
  learning_rate?: number;
  /**
   * Examples that are held out, to measure by: a list, or a share of the examples, drawn by the seed: of each label alike, and never the only
   * text of a label. The best state is kept. With fewer than 30 texts a share holds nothing out: `report.accuracy` is by cross-validation.
   */
  validation?: readonly TeachExample<T>[] | number;
  /** Scale-invariant fine-tuning (He et al., 2020): steadier, at about three times the work. `true` is a weight of 4. */
  sift?: boolean | { weight: number };
  /** Seed of all random numbers: the same seed gives the same result. Default 42. */
  seed?: number;
  /** Told of loading and of every step. */
  progress_callback?: (progress: TeachProgress) => void;
  /** Cancels, and frees all memory immediately. */
  signal?: AbortSignal;
  /**
   * The labels, in the order that the model is to have; of entities their kinds. Default: the model's own, if it knows all that the
   * examples name, else those that the examples name, by alphabet. Labels other than the model's make a new classifier (`report.fresh`).
   */
  labels?: readonly string[];
  /**
   * The meaning of text labels. Default: by their type: a string, a list of strings, numbers. Whole numbers need this option, unless
   * `labels` names what class ids mean.
   */
  problem_type?: ProblemType;
  /** Stop after this number of validations without improvement. Default 0, which means never. */
  patience?: number;
  /** Examples of one update. Default 16. */
  batch_size?: number;
  /** Maximum tokens in memory; a larger batch is computed in parts. Default 2048. */
  batch_tokens?: number;
  /** Default 0.01; none for biases and norms. */
  weight_decay?: number;
  /** The share of the steps in which the learning rate rises. Default 0.1. */
  warmup?: number;
  /** The largest norm of the gradient. Default 1. */
  clip?: number;
  /** Each layer learns by this factor less than the one above it. Default 1. */
  layer_decay?: number;
  /** Dropout of hidden states. Default 0.1. */
  dropout?: number;
  /** Dropout of attention probabilities. Default 0.1. */
  attention_dropout?: number;
  /** Default 0. */
  label_smoothing?: number;
  /** How much each label's examples count, by label; those that are not named count 1. */
  class_weights?: Readonly<Record<string, number>>;
  /** The rank of LoRA's pairs. Default 8. */
  lora_rank?: number;
  /** LoRA's scale is this over the rank. Default 16. */
  lora_alpha?: number;
  /** The linear layers that LoRA changes, by the ends of their names. Default: query and value. */
  lora_targets?: readonly string[];
  /** Leave the embeddings of words as they are: less memory. Default false. */
  freeze_words?: boolean;
  /** Tokens of an example at most; what is longer is cut, contexts are read in windows. Default: what the model takes, at most 512. */
  max_length?: number;
  /** Threads to work with, 1 to 16. Default 'auto': as a pipeline's, at most `env.threads`. What is learnt does not depend on how many. */
  threads?: number | 'auto';
  /** URL of a folder that holds the engine's builds (peruse-teach.wasm, peruse-teach-threads.wasm), instead of the package's own. Default: `env.wasmPath`. */
  wasmPath?: string | URL;
}

/** The kinds of teach()'s options. */
export const kKinds: Record<keyof TeachOptions, OptionKind> = {
  attention_dropout: 'number',
  batch_size: 'number',
  batch_tokens: 'number',
  class_weights: 'other',
  clip: 'number',
  dropout: 'number',
  epochs: 'number',
  freeze_words: 'boolean',
  label_smoothing: 'number',
  labels: 'other',
  layer_decay: 'number',
  learning_rate: 'number',
  local_files_only: 'boolean',
  lora_alpha: 'number',
  lora_rank: 'number',
  lora_targets: 'other',
  max_length: 'number',
  method: 'other',
  patience: 'number',
  problem_type: 'other',
  progress_callback: 'function',
  revision: 'string',
  seed: 'number',
  sift: 'other',
  signal: 'signal',
  threads: 'other',
  token: 'string',
  validation: 'other',
  warmup: 'number',
  wasmPath: 'other',
  weight_decay: 'number',
};

/** Options passed to the engine unchanged, which validates them. */
const kPassedOn = [
  'attention_dropout',
  'batch_size',
  'batch_tokens',
  'clip',
  'dropout',
  'epochs',
  'freeze_words',
  'label_smoothing',
  'layer_decay',
  'learning_rate',
  'lora_alpha',
  'lora_rank',
  'max_length',
  'patience',
  'seed',
  'warmup',
  'weight_decay',
] as const;

/** A weight that the paper's authors publish. */
const kSift = 4;

const kProblems: readonly ProblemType[] = ['single_label_classification', 'multi_label_classification', 'regression'];

/** A copy of the options, which must exist and be of their types. */
export function checkTeachOptions<T extends TeachTask>(given: TeachOptions<T>): TeachOptions<T> {
  const options = checkLoadOptions(given, kKinds as Record<keyof TeachOptions<T>, OptionKind>, 'teaching');
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

/** The method, as the engine takes it. */
export function engineMethod(method: TeachMethod): { method: string; layers?: number } {
  if (method === 'head' || method === 'lora' || method === 'full') return { method };
  const { layers, ...rest } = typeof method === 'object' && method !== null ? method : { layers: undefined };
  if (Number.isInteger(layers) && layers! >= 1 && Object.keys(rest).length === 0) return { method: 'layers', layers: layers! };
  const given = typeof method === 'object' && method !== null ? JSON.stringify(method) : show(method);
  throw new PeruseError('invalid_argument', `method must be 'head', 'lora', 'full' or { layers: n } with n from 1, not ${given}.`);
}

/** What the engine's `open` takes beside task, labels and method. */
export function engineSettings(options: TeachOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const name of kPassedOn) {
    const value = options[name];
    if (value === undefined) continue;
    if (typeof value === 'number' && !Number.isFinite(value)) throw new PeruseError('invalid_argument', `${name} is ${value}, no number.`);
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
