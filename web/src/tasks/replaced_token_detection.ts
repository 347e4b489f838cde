import { type CallOptions, type Run, type TextsCall, textsCall } from './call.js';

/** A token, with the probability that it was replaced. */
export interface TokenReplacement {
  word: string;
  score: number;
  replaced: boolean;
  index: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** `detect(text)`, `detect([text, ...])` return an item for each token, without special tokens. */
export type ReplacedTokenDetectionCall = TextsCall<CallOptions, TokenReplacement[]>;

/** Creates the call of a pipeline; `run` sends requests to its engine. */
export function replacedTokenDetection(run: Run): ReplacedTokenDetectionCall {
  return textsCall<CallOptions, TokenReplacement[]>('replaced-token-detection', {}, run);
}
