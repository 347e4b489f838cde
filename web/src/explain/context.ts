import type { Explains } from '../tasks/explanations.js';
import type { ExplainGradient } from '../tasks/gradient.js';
import type { PipelineTokenizer } from '../tasks/tokenizer_calls.js';

/** The members of a pipeline that explanations use. */
export interface ExplainContext {
  task: keyof Explains;
  call: (...given: unknown[]) => Promise<unknown>;
  tokenizer: PipelineTokenizer;
  /** Absent without the training engine. */
  gradient?: ExplainGradient | undefined;
}
