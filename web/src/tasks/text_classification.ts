import { PeruseError } from '../errors.js';
import { type Given, option } from '../options.js';
import { asList, type CallOptions, callOptions, engineOptions, type NoOptions, nameOf, type Run } from './call.js';
import { runCutting } from './cutting.js';
import type { CallContext, TaskDefinition } from './definition.js';

/** A pair of texts, for models trained on pairs. */
export interface TextPair {
  text: string;
  text_pair: string;
}

const kTask = 'text-classification';
const kOptions = callOptions(kTask, {
  /** Number of labels, best first; null means all. Default 1. */
  top_k: option<number | null>({ kind: 'number', default: 1, flag: { short: 'k', help: 'number of labels, best first; 0 means all (1)' } }),
  /** transformers.js 2's name of `top_k`. Ignored if `top_k` is given. */
  topk: option<number | null>({ kind: 'number' }),
  /** transformers' old option: true means `top_k: null`. Ignored if `top_k` is given. */
  return_all_scores: option({ kind: 'boolean' }),
  /** How to convert logits to scores. By default the model's configuration decides. */
  function_to_apply: option({
    kind: ['sigmoid', 'softmax', 'none'],
    default: 'by the model',
    flag: { name: 'function', help: 'converts logits to scores (by the model)' },
  }),
  /** Cut a text that exceeds the model's limit. By default such a text is cut, too, and `info.notices` says by how many tokens; false throws 'text_too_long'. */
  truncation: option({
    kind: 'boolean',
    default: 'with a notice',
    flag: { name: 'truncate', help: 'cut texts that are too long; by default they are an error' },
  }),
  /** Divisor of the logits. Default 1. */
  temperature: option({ kind: 'number', default: 1 }),
  /** Read a long text in windows that share this many tokens, and combine their scores by `windows` or `window_label`. */
  stride: option({ kind: 'number', default: 'none', flag: { help: 'read long texts in windows that share n tokens' } }),
  /** Number of tokens after cutting (with `truncation`) or in a window. Default: the model's limit; for windows usually at most 512. */
  max_length: option({ kind: 'number', default: "the model's" }),
  /** How to combine a label's scores of all windows: the highest, or the mean. Default 'max'. */
  windows: option({ kind: ['max', 'mean'], default: 'max' }),
  /** Return the scores of the window in which this label's score is highest. */
  window_label: option({
    kind: 'string',
    default: 'none',
    flag: { help: 'with --stride: print the scores of the window where this label scores highest' },
  }),
});

/** Options of text classification. */
export interface TextClassificationOptions extends CallOptions, Given<typeof kOptions> {}

/** A label and its score. */
export interface LabelScore {
  label: string;
  score: number;
  /** With `stride`, unless scores are means: the range of the window with this score, in UTF-16 indices. */
  start?: number;
  end?: number;
}

type ClassifierInput = string | TextPair;

/** A list of labels for one text. For several texts one label each, or a list each if `top_k` is not 1. */
export type TextClassificationOutput<I, O> = I extends readonly unknown[]
  ? O extends { top_k: infer K } | { topk: infer K }
    ? K extends 1 | undefined
      ? LabelScore[]
      : number extends K
        ? LabelScore[] | LabelScore[][]
        : LabelScore[][]
    : LabelScore[]
  : LabelScore[];

/** The call of text classification. */
export interface TextClassificationCall {
  /** Returns the best labels of a text: `classify('A text.')`, of a pair: `classify({ text, text_pair })`, or of several: `classify([text, ...])`. */
  <I extends ClassifierInput | readonly ClassifierInput[], const O extends TextClassificationOptions = NoOptions>(
    input: I,
    options?: O,
  ): Promise<TextClassificationOutput<I, O>>;
}

function createCall(run: Run, context: CallContext): TextClassificationCall {
  const call = async (input: unknown, options: TextClassificationOptions = {}) => {
    const { topk, return_all_scores, ...given } = engineOptions(kTask, kOptions, options);
    const settings: Record<string, unknown> = { top_k: topk === undefined ? (return_all_scores === true ? null : 1) : topk, ...given };
    const inputs = asList(input).map((item, index) => classifierInput(item, index));
    const results = (await runCutting(run, inputs, settings, options, context)) as LabelScore[][];
    if (!Array.isArray(input)) return results[0];
    return settings.top_k === 1 ? results.flat() : results;
  };
  return call as TextClassificationCall;
}

/** The task. */
export const textClassification = {
  engine: { name: kTask, classes: ['ForSequenceClassification'], sentenceFiles: 'without head' },
  call: createCall,
  options: kOptions,
  example: 'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
  loadOptions: ['id2label'],
  explains: 'text-classification',
  teach: { name: kTask, examples: 'labels' },
} as const satisfies TaskDefinition;

function classifierInput(item: unknown, index: number): { text: string; text_pair?: string } {
  if (typeof item === 'string') return { text: item };
  const { text, text_pair } = (item ?? {}) as Partial<TextPair>;
  if (typeof text === 'string' && typeof text_pair === 'string') return { text, text_pair };
  throw new PeruseError('invalid_argument', `Input ${index} is ${nameOf(item)}; ${kTask} takes a string or { text, text_pair }.`);
}
