// token-classification: labelled spans of a text (named entities, parts of speech).
import { textsCall, type CallOptions, type OptionNames, type Run, type TextsCall } from './call.js';

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
}

/** A labelled token, or a labelled group of tokens. */
export interface TokenEntity {
  /** The token's label, with the strategy 'none'. */
  entity?: string;
  /** The group's label, with any other strategy. */
  entity_group?: string;
  score: number;
  /** The token's number, with the strategy 'none'. */
  index?: number;
  word: string;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** `tag(text)`, `tag([text, ...])`. */
export type TokenClassificationCall = TextsCall<TokenClassificationOptions, TokenEntity[]>;

const kOptions: OptionNames<TokenClassificationOptions> = { aggregation_strategy: true, ignore_labels: true, stride: true };

/** Makes the call. */
export function tokenClassification(run: Run): TokenClassificationCall {
  return textsCall<TokenClassificationOptions, TokenEntity[]>('token-classification', kOptions, run);
}
