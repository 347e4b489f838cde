// text-classification: labels with scores for a text or a pair of texts.
import { PeruseError } from '../errors.js';
import { asList, type CallOptions, engineOptions, type NoOptions, nameOf, type OptionNames, type Run } from './call.js';

/** Two texts that belong together, for models trained on pairs. */
export interface TextPair {
  text: string;
  text_pair: string;
}

/** Options of text classification. */
export interface TextClassificationOptions extends CallOptions {
  /** How many labels to return, best first; null returns all of them. Default 1. */
  top_k?: number | null;
  /** How logits become scores. By default the model's configuration decides. */
  function_to_apply?: 'sigmoid' | 'softmax' | 'none';
  /** Cut a text that exceeds the model's limit. By default such a text is an error, 'text_too_long'. */
  truncation?: boolean;
  /** Divides the logits. Default 1. */
  temperature?: number;
  /**
   * Read a long text in windows that share this many tokens. A score is then the highest that any window gives its label
   * (`windows`), or all scores are those of one window (`window_label`).
   */
  stride?: number;
  /** Tokens to cut to with `truncation`, or of a window. Default: what the model takes, for windows at most 512 as a rule. */
  max_length?: number;
  /** What windows make together: of each label the highest score, or the mean. Default 'max'. */
  windows?: 'max' | 'mean';
  /** The window where this label's score is highest speaks for the text. */
  window_label?: string;
}

/** A label and its score. */
export interface LabelScore {
  label: string;
  score: number;
  /** With `stride`, unless the scores are means: the window that the score comes from, as UTF-16 indices of the text. */
  start?: number;
  end?: number;
}

type ClassifierInput = string | TextPair;

/** One text: its labels, best first. Several texts: one label each, or, where `top_k` is not 1, a list of labels each. */
export type TextClassificationOutput<I, O> = I extends readonly unknown[]
  ? O extends { top_k: infer K }
    ? K extends 1 | undefined
      ? LabelScore[]
      : number extends K
        ? LabelScore[] | LabelScore[][]
        : LabelScore[][]
    : LabelScore[]
  : LabelScore[];

/** `classify(text)`, `classify([text, ...])`, `classify({ text, text_pair })`. */
export type TextClassificationCall = <
  I extends ClassifierInput | readonly ClassifierInput[],
  const O extends TextClassificationOptions = NoOptions,
>(
  input: I,
  options?: O,
) => Promise<TextClassificationOutput<I, O>>;

const kTask = 'text-classification';
const kOptions: OptionNames<TextClassificationOptions> = {
  top_k: true,
  function_to_apply: true,
  truncation: true,
  temperature: true,
  stride: true,
  max_length: true,
  windows: true,
  window_label: true,
};

/** Makes the call. */
export function textClassification(run: Run): TextClassificationCall {
  const call = async (input: unknown, options: TextClassificationOptions = {}) => {
    const settings = { top_k: 1, ...engineOptions(kTask, kOptions, options) };
    const inputs = asList(input).map((item, index) => classifierInput(item, index));
    const results = (await run(inputs, settings, options.signal)) as LabelScore[][];
    if (!Array.isArray(input)) return results[0];
    return settings.top_k === 1 ? results.flat() : results;
  };
  return call as TextClassificationCall;
}

function classifierInput(item: unknown, index: number): { text: string; text_pair?: string } {
  if (typeof item === 'string') return { text: item };
  const { text, text_pair } = (item ?? {}) as Partial<TextPair>;
  if (typeof text === 'string' && typeof text_pair === 'string') return { text, text_pair };
  throw new PeruseError('invalid_argument', `Input ${index} is ${nameOf(item)}; ${kTask} takes a string or { text, text_pair }.`);
}
