import { type Given, option } from '../options.js';
import { type CallOptions, callOptions, engineOptions, type NoOptions, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';
import { kSplitWordsOption, type OneOrManyTexts, type WordPlace, wordInputs } from './word_inputs.js';

const kTask = 'token-classification';
const kOptions = callOptions(kTask, {
  /**
   * 'none' (default) returns an item for each token. 'simple' joins neighbouring tokens with the same label. 'first', 'max' and 'average'
   * label whole words, by the word's first token, by its highest score, or by the mean of its scores.
   */
  aggregation_strategy: option({
    kind: ['none', 'simple', 'first', 'max', 'average'],
    default: 'none',
    flag: { name: 'aggregation', help: 'how tokens become entities (simple)' },
  }),
  /** Labels to omit. Default ['O']. */
  ignore_labels: option<readonly string[]>({ kind: 'other', default: "`['O']`" }),
  /** Reads long texts in windows that share this many tokens (with an aggregation strategy); otherwise they throw 'text_too_long'. */
  stride: option({ kind: 'number', default: 'none', flag: { help: 'read long texts in windows that share n tokens' } }),
  /** With `stride`: number of tokens in a window. Default: the model's limit. */
  max_length: option({
    kind: 'number',
    default: "the model's",
    flag: { help: "with --stride: number of tokens in a window (the model's limit)" },
  }),
  ...kSplitWordsOption,
});

/** Options of token classification. */
export interface TokenClassificationOptions extends CallOptions, Given<typeof kOptions> {}

interface Labelled extends WordPlace {
  score: number;
  word: string;
  /** UTF-16 indices into the caller's text, or into its words with a space between them. */
  start: number;
  end: number;
}

/** A labelled token, for the aggregation strategy 'none'. */
export interface TokenEntity extends Labelled {
  entity: string;
  /** Position of the token in the text. */
  index: number;
}

/** A labelled group of tokens, for every other aggregation strategy. */
export interface EntityGroup extends Labelled {
  entity_group: string;
}

type EntityOf<S> = unknown extends S ? TokenEntity : S extends 'none' | undefined ? TokenEntity : EntityGroup;

/** The entities of one text. */
export type TokenClassificationOutput<O> = EntityOf<O extends { aggregation_strategy?: infer S } ? S : 'none'>[];

/** The call of token classification. */
export interface TokenClassificationCall {
  /**
   * Returns the labelled tokens or, with `aggregation_strategy`, entities of a text: `tag(text)`, or a list for each of several texts. With
   * `is_split_into_words`, each text is a list of words.
   */
  <I extends string | readonly string[] | readonly (readonly string[])[], const O extends TokenClassificationOptions = NoOptions>(
    texts: I,
    options?: O,
  ): Promise<OneOrManyTexts<I, O, TokenClassificationOutput<O>>>;
}

function createCall(run: Run): TokenClassificationCall {
  const call = async (texts: unknown, options: TokenClassificationOptions = {}) => {
    const { inputs, isList, rest, place } = wordInputs(kOptions, texts, options);
    const results = place(await run(inputs, engineOptions(kTask, kOptions, rest), options));
    return isList ? results : results[0];
  };
  return call as TokenClassificationCall;
}

/** The task. */
export const tokenClassification = {
  engine: { name: kTask, classes: ['ForTokenClassification'] },
  call: createCall,
  options: kOptions,
  example: 'dslim/bert-base-NER',
  loadOptions: ['id2label'],
  teach: { name: kTask, examples: 'entities' },
} as const satisfies TaskDefinition;
