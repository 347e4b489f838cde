// token-classification: labelled spans of a text (named entities, parts of speech).
import { type CallOptions, type NoOptions, type OneOrMany, type OptionNames, type Run, textsCall } from './call.js';

/** Options of token classification. */
export interface TokenClassificationOptions extends CallOptions {
  /**
   * 'none' (the default): one item per token. 'simple': neighbouring tokens of one label become one item. 'first', 'max',
   * 'average': words first, each labelled by its first token, its surest token or its tokens' mean.
   */
  aggregation_strategy?: 'none' | 'simple' | 'first' | 'max' | 'average';
  /** Labels to leave out. Default ['O']. */
  ignore_labels?: readonly string[];
  /**
   * Read a text that is longer than the model takes in windows that share this many tokens; needs an aggregation strategy.
   * Without it such a text is refused with 'text_too_long'.
   */
  stride?: number;
  /** Tokens of a window, with `stride`. Default: what the model takes. */
  max_length?: number;
}

interface Labelled {
  score: number;
  word: string;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** A labelled token: what the strategy 'none' gives. */
export interface TokenEntity extends Labelled {
  /** The token's label. */
  entity: string;
  /** The token's number. */
  index: number;
}

/** A labelled group of tokens: what every other strategy gives. */
export interface EntityGroup extends Labelled {
  /** The group's label. */
  entity_group: string;
}

/** What a strategy gives. */
type EntityOf<S> = unknown extends S ? TokenEntity : S extends 'none' | undefined ? TokenEntity : EntityGroup;

/** The entities of one text. */
export type TokenClassificationOutput<O> = EntityOf<O extends { aggregation_strategy?: infer S } ? S : 'none'>[];

/** `tag(text)`, `tag([text, ...])`. */
export type TokenClassificationCall = <I extends string | readonly string[], const O extends TokenClassificationOptions = NoOptions>(
  texts: I,
  options?: O,
) => Promise<OneOrMany<I, TokenClassificationOutput<O>>>;

const kOptions: OptionNames<TokenClassificationOptions> = {
  aggregation_strategy: true,
  ignore_labels: true,
  stride: true,
  max_length: true,
};

/** Makes the call. */
export function tokenClassification(run: Run): TokenClassificationCall {
  return textsCall<TokenClassificationOptions, unknown>('token-classification', kOptions, run) as TokenClassificationCall;
}
