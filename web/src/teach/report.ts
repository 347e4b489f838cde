import type { TeachMetrics } from './options.js';

/** Accuracy of a method on unseen examples, by cross-validation. */
export interface MethodScore {
  method: TeachReport['method'];
  /** Share of examples with the right label. */
  accuracy: number;
  folds: number;
}

/** Accuracy of the trained model, by label, and the examples to check. */
export interface AccuracyReport extends MethodScore {
  labels: { label: string; examples: number; right: number }[];
  /** Examples whose predicted label differs, by number: perhaps their label is wrong. `score` is the predicted label's probability. */
  wrong: { example: number; label: string; predicted: string; score: number }[];
}

/** Result of a training run. */
export interface TeachReport {
  method: 'head' | 'contrast' | 'layers' | 'lora' | 'full';
  /** The highest learning rate, after the warm-up. */
  learning_rate: number;
  /** In the model's order; for token classification O, B-... and I-...; empty for question answering and pre-training. */
  labels: string[];
  /** Numbers of training and validation examples. */
  examples: number;
  validation_examples: number;
  /** Number of updates, and of tokens read for them. */
  steps: number;
  tokens: number;
  /** Losses of each update and of each epoch. */
  losses: number[];
  epochs: { loss: number; generator_loss?: number; validation?: TeachMetrics }[];
  /** The epoch whose weights were kept, from 1; null means the last, without validation. */
  best_epoch: number | null;
  /** Metrics of the kept weights. */
  validation?: TeachMetrics;
  /** For texts with one label each: accuracy on unseen texts. `accuracy.method` differs from `method` if only the former was measured. */
  accuracy?: AccuracyReport;
  /** The methods between which teach() chose. */
  compared?: MethodScore[];
  /** For heads of texts: strength of the regularisation, chosen by cross-validation. */
  l2?: number;
  /** For heads of texts: the logits were divided by it, so that probabilities suit unseen texts (temperature scaling, by cross-validation). */
  temperature?: number;
  /** Number of parameters, and of those that were trained. */
  parameters: number;
  trained_parameters: number;
  /** Tensors that started with random values. */
  fresh: string[];
  /** Bytes: an estimate for weights, gradients, moments and the largest batch; and the engine's whole memory. */
  memory: { planned_bytes: number; heap_bytes: number };
  milliseconds: { loading: number; teaching: number };
  /** Number of threads, and the reason for it. */
  threads: number;
  reason: string;
  /** Warnings, for example that files could not be cached. */
  notices: string[];
}

export interface LessonResult {
  report: TeachReport;
  /** Files that the engine wrote: config.json, and weights or an adapter. */
  made: Map<string, Uint8Array<ArrayBuffer>>;
  /** The model's small files, unchanged. */
  texts: Map<string, Uint8Array<ArrayBuffer>>;
  /** The model's weights files, unchanged, if an adapter was trained, which needs them. */
  base?: Map<string, Blob>;
}
