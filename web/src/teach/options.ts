import { PeruseError, show } from '../errors.js';
import { checkOptions, type OptionKind } from '../options.js';
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

/** Training options. Defaults are those of Hugging Face's Trainer unless stated otherwise. */
export interface TeachOptions<T extends TeachTask = TeachTask> extends SourceOptions {
  /**
   * The trained part. Default for texts with one label each: 'head', or 'full' ('contrast' for sentence embedders), whichever is better in
   * cross-validation (`report.compared`). If that would take more than seconds, 'full' or 'contrast', or 'head' for slow models. For other tasks:
   * 'full'. 'lora' creates an adapter.
   */
  method?: TeachMethod;
  /** Passes over the examples. Default: enough for 150 updates, at least 3. Unused by 'contrast', and for heads of texts, which are solved directly. */
  epochs?: number;
  /** The highest learning rate, after the warm-up. Default: depends on method and width (docs/teach.md); for 'full' 5e-5 at width 768. */
  learning_rate?: number;
  /**
   * Examples for validation: a list, or a share to hold out, drawn from each label by the seed. The weights of the best epoch are kept. With
   * fewer than 30 texts, a share holds out nothing, and `report.accuracy` comes from cross-validation.
   */
  validation?: readonly TeachExample<T>[] | number;
  /** Scale-invariant fine-tuning (He et al., 2020): more stable, about three times the work. `true` means a weight of 4. */
  sift?: boolean | { weight: number };
  /** Seed of all random numbers; the same seed gives the same result. Default 42. */
  seed?: number;
  /** Receives progress of loading and of every step. */
  progress_callback?: (progress: TeachProgress) => void;
  /** Cancels the run and frees all memory immediately. */
  signal?: AbortSignal;
  /**
   * The model's labels in order; for token classification, kinds of entities. Default: the model's own if they include all labels of the
   * examples, otherwise those of the examples, sorted. Labels other than the model's create a new classifier (`report.fresh`).
   */
  labels?: readonly string[];
  /** The meaning of labels. Default: by type (string, list of strings, number). Whole numbers require this option or `labels`. */
  problem_type?: ProblemType;
  /** Stop after this number of validations without improvement. Default 0, which means never. */
  patience?: number;
  /** Number of examples in an update. Default 16, for 'contrast' 32. */
  batch_size?: number;
  /** Maximum number of tokens in one computation; larger batches are split. Default 2048. */
  batch_tokens?: number;
  /** Weight decay, except for biases and norms. Default 0.01. */
  weight_decay?: number;
  /** Share of the steps in which the learning rate rises. Default 0.1. */
  warmup?: number;
  /** Maximum norm of the gradient. Default 1. */
  clip?: number;
  /** Factor between the learning rates of a layer and the layer above it. Default 1. */
  layer_decay?: number;
  /** Dropout of hidden states. Default 0.1. */
  dropout?: number;
  /** Dropout of attention probabilities. Default 0.1. */
  attention_dropout?: number;
  /** Label smoothing. Default 0. */
  label_smoothing?: number;
  /** Weight of each label's examples in the loss. Default 1. */
  class_weights?: Readonly<Record<string, number>>;
  /** Rank of LoRA's pairs. Default 8. */
  lora_rank?: number;
  /** Numerator of LoRA's scale, `lora_alpha / lora_rank`. Default 16. */
  lora_alpha?: number;
  /** Suffixes of the names of the linear layers that LoRA changes. Default: query and value. */
  lora_targets?: readonly string[];
  /** Do not train token embeddings, which saves memory. Default false. */
  freeze_words?: boolean;
  /** Maximum number of tokens: longer texts are cut, contexts are read in windows. Default: the model's limit, at most 512. */
  max_length?: number;
  /** Number of threads, 1 to 16. Default 'auto', at most `env.threads`. It does not change the result. */
  threads?: number | 'auto';
}

interface TeachOption {
  readonly kind: OptionKind;
  /** The engine gets the value unchanged, and checks it. */
  readonly passedOn?: true;
  /** Has an effect only on training in steps, only on such training in epochs, or only on LoRA. */
  readonly of?: 'steps' | 'epochs' | 'lora';
  /** pretrain() does not have the option. */
  readonly onlyTeach?: true;
}

const kTeachOptions = {
  attention_dropout: { kind: 'number', passedOn: true, of: 'steps' },
  batch_size: { kind: 'number', passedOn: true, of: 'steps' },
  batch_tokens: { kind: 'number', passedOn: true },
  class_weights: { kind: 'other', onlyTeach: true },
  clip: { kind: 'number', passedOn: true, of: 'steps' },
  dropout: { kind: 'number', passedOn: true, of: 'steps' },
  epochs: { kind: 'number', passedOn: true, of: 'epochs' },
  freeze_words: { kind: 'boolean', passedOn: true, of: 'steps' },
  label_smoothing: { kind: 'number', passedOn: true, onlyTeach: true },
  labels: { kind: 'other', onlyTeach: true },
  layer_decay: { kind: 'number', passedOn: true, of: 'steps' },
  learning_rate: { kind: 'number', passedOn: true, of: 'steps' },
  lora_alpha: { kind: 'number', passedOn: true, of: 'lora', onlyTeach: true },
  lora_rank: { kind: 'number', passedOn: true, of: 'lora', onlyTeach: true },
  lora_targets: { kind: 'other', of: 'lora', onlyTeach: true },
  max_length: { kind: 'number', passedOn: true },
  method: { kind: 'other', onlyTeach: true },
  cache_dir: { kind: 'string' },
  local_files_only: { kind: 'boolean' },
  offline: { kind: 'boolean' },
  patience: { kind: 'number', passedOn: true, of: 'epochs' },
  problem_type: { kind: 'other', onlyTeach: true },
  progress_callback: { kind: 'function' },
  revision: { kind: 'string' },
  seed: { kind: 'number', passedOn: true },
  sift: { kind: 'other', of: 'steps', onlyTeach: true },
  signal: { kind: 'signal' },
  threads: { kind: 'other' },
  token: { kind: 'string' },
  validation: { kind: 'other' },
  warmup: { kind: 'number', passedOn: true, of: 'steps' },
  weight_decay: { kind: 'number', passedOn: true, of: 'steps' },
} as const satisfies Record<keyof TeachOptions, TeachOption>;

type Table = typeof kTeachOptions;
const kEntries = Object.entries(kTeachOptions) as [keyof Table, TeachOption][];

/** The options that pretrain() does not have. */
export type OnlyTeachOption = { [O in keyof Table]: Table[O] extends { onlyTeach: true } ? O : never }[keyof Table];

/** The options of teach(), or of those that pretrain() has, too. */
export function teachSchema(isPretraining = false): Readonly<Record<string, { kind: OptionKind }>> {
  return Object.fromEntries(kEntries.filter(([, { onlyTeach }]) => !(isPretraining && onlyTeach)));
}

/** The options that only have an effect on training in steps, in epochs, or on LoRA. */
export function optionsOf(...what: NonNullable<TeachOption['of']>[]): (keyof Table)[] {
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
