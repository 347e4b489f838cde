import { type CallOptions, type Run, type TextsCall, textsCall } from './call.js';
import type { TaskDefinition } from './definition.js';

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

const kTask = 'replaced-token-detection';

function createCall(run: Run): ReplacedTokenDetectionCall {
  return textsCall<CallOptions, TokenReplacement[]>(kTask, {}, run);
}

/** The task. */
export const replacedTokenDetection = {
  engine: { name: kTask },
  call: createCall,
  example: 'google/electra-small-discriminator',
  pretrain: { objective: 'rtd', task: { name: kTask, examples: 'lines' } },
} as const satisfies TaskDefinition;
