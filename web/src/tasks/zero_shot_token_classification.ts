import { type Given, option } from '../options.js';
import { type CallOptions, callOptions, engineOptions, labelList, type NoOptions, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';
import { kSplitWordsOption, kWordsOption, type OneOrManyTexts, type WordPlace, wordInputs } from './word_inputs.js';

const kTask = 'zero-shot-token-classification';
const kOptions = callOptions(kTask, {
  /** Minimum score, exclusive. Default 0.5. */
  threshold: option({ kind: 'number', default: 0.5, flag: { help: 'with --labels: minimum score (0.5)' } }),
  /** Return no overlapping entities. Default true; with false, an entity may contain another. */
  flat_ner: option({ kind: 'boolean', default: true }),
  /** The same words may have several labels. Default false. */
  multi_label: option({ kind: 'boolean', default: false, flag: { help: 'with --labels: the same words may have several labels' } }),
  ...kWordsOption,
  ...kSplitWordsOption,
});

/** Options of zero-shot token classification. */
export interface ZeroShotTokenClassificationOptions extends CallOptions, Given<typeof kOptions> {}

/** A labelled part of a text. */
export interface LabelledSpan extends WordPlace {
  label: string;
  text: string;
  score: number;
  /** UTF-16 indices into the caller's text, or into its words with a space between them. */
  start: number;
  end: number;
}

/** The call of zero-shot token classification. */
export interface ZeroShotTokenClassificationCall {
  /**
   * Returns the parts of a text that the labels describe: `extract(text, labels)`, or a list for each of several texts. Labels are a list, or
   * one string with commas; without labels there are no results. A long text is read in overlapping windows. With `is_split_into_words`,
   * each text is a list of words.
   */
  <I extends string | readonly string[] | readonly (readonly string[])[], O extends ZeroShotTokenClassificationOptions = NoOptions>(
    texts: I,
    labels: string | readonly string[],
    options?: O,
  ): Promise<OneOrManyTexts<I, O, LabelledSpan[]>>;
}

function createCall(run: Run): ZeroShotTokenClassificationCall {
  const call = async (texts: unknown, labels: unknown, options: ZeroShotTokenClassificationOptions = {}) => {
    const { inputs, isList, rest, place } = wordInputs(kOptions, texts, options);
    const settings = { ...engineOptions(kTask, kOptions, rest), labels: labelList(labels, 'labels') };
    const found = settings.labels.length === 0 ? inputs.map(() => []) : await run(inputs, settings, options);
    const results = place(found);
    return isList ? results : results[0];
  };
  return call as ZeroShotTokenClassificationCall;
}

/** The task. */
export const zeroShotTokenClassification = {
  engine: { name: kTask, labelConfig: true, labelsTokenizer: true },
  call: createCall,
  options: kOptions,
  example: 'knowledgator/gliner-pii-base-v1.0',
  loadOptions: ['encoder', 'labels_encoder'],
} as const satisfies TaskDefinition;
