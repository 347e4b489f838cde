import { type CallOptions, type OneOrMany, type Run, textsCall } from './call.js';
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

/** The call of replaced-token detection. */
export interface ReplacedTokenDetectionCall {
  /** Returns an item for each token, without special tokens: `detect(text)`, or a list for each of several texts. */
  <I extends string | readonly string[]>(texts: I, options?: CallOptions): Promise<OneOrMany<I, TokenReplacement[]>>;
}

const kTask = 'replaced-token-detection';

function createCall(run: Run): ReplacedTokenDetectionCall {
  return textsCall(kTask, {}, run) as ReplacedTokenDetectionCall;
}

/** The task. */
export const replacedTokenDetection = {
  engine: { name: kTask },
  call: createCall,
  example: 'google/electra-small-discriminator',
  pretrain: { objective: 'rtd', task: { name: kTask, examples: 'lines' } },
} as const satisfies TaskDefinition;
