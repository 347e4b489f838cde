// replaced-token-detection: which tokens of a text another model probably put there.
import { type CallOptions, type Run, type TextsCall, textsCall } from './call.js';

/** A token, and how likely it is not the original. */
export interface TokenReplacement {
  word: string;
  /** Probability that the token was replaced. */
  score: number;
  replaced: boolean;
  index: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** `detect(text)`, `detect([text, ...])`: one item per token, special tokens left out. */
export type ReplacedTokenDetectionCall = TextsCall<CallOptions, TokenReplacement[]>;

/** Makes the call. */
export function replacedTokenDetection(run: Run): ReplacedTokenDetectionCall {
  return textsCall<CallOptions, TokenReplacement[]>('replaced-token-detection', {}, run);
}
