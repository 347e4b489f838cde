// What comes of a lesson: plain data.
import type { TeachMetrics } from './options.js';

/** Accuracy of a method on unseen examples, by cross-validation. */
export interface MethodScore {
  method: TeachReport['method'];
  /** The share of the examples that got their label. */
  accuracy: number;
  folds: number;
}

/** The score of what is kept: by label, and the examples to look at again. */
export interface AccuracyReport extends MethodScore {
  labels: { label: string; examples: number; right: number }[];
  /** Examples that got another label, by their number: is theirs right? `score`: how probable the other one was. */
  wrong: { example: number; label: string; predicted: string; score: number }[];
}

/** What came of a lesson. */
export interface TeachReport {
  method: 'head' | 'layers' | 'lora' | 'full';
  /** The highest, after the warm-up. */
  learning_rate: number;
  /** In the model's order; for entities the labels of tokens (O, B-..., I-...); empty for question answering and pre-training. */
  labels: string[];
  /** Examples that were learnt from, and those that were held out. */
  examples: number;
  validation_examples: number;
  /** Updates, and tokens read for them. */
  steps: number;
  tokens: number;
  /** Losses by update, and by epoch. */
  losses: number[];
  epochs: { loss: number; generator_loss?: number; validation?: TeachMetrics }[];
  /** The epoch whose state was kept, from 1; null means the last, without validation. */
  best_epoch: number | null;
  /** Metrics of that state. */
  validation?: TeachMetrics;
  /**
   * Texts with one label each, where cross-validation took seconds or was free (of the head it is): how good the model is on texts that it
   * has not seen. `accuracy.method` differs from `method` where only the former was measured.
   */
  accuracy?: AccuracyReport;
  /** All methods that were scored, when teach() chose between them. */
  compared?: MethodScore[];
  /** 'head' of texts: the strength of the regularisation that cross-validation chose. */
  l2?: number;
  /** Numbers in the model, and how many of them were trained. */
  parameters: number;
  trained_parameters: number;
  /** Tensors that started at random. */
  fresh: string[];
  /** The engine's estimate for weights, gradients, moments and the largest batch, and the size of its whole memory. */
  memory: { planned_bytes: number; heap_bytes: number };
  /** Time. */
  milliseconds: { loading: number; teaching: number };
  /** That worked, and why so many. What was learnt does not depend on how many. */
  threads: number;
  reason: string;
  /** Sentences about what went otherwise than one may expect: files that could not be kept, say. */
  notices: string[];
}

export interface LessonResult {
  report: TeachReport;
  /** What the engine made: config.json, and the weights or an adapter. */
  made: Map<string, Uint8Array<ArrayBuffer>>;
  /** The model's small files, as they came. */
  texts: Map<string, Uint8Array<ArrayBuffer>>;
  /** The model's weights as they came, by the files' names: for an adapter, which is nothing without them. */
  base?: Map<string, Blob>;
}
