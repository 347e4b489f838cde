import type { PipelineTokenizer } from '../tasks/tokenizer_calls.js';
import type { ExplainGradient } from './gradient.js';

/** The members of a pipeline that explanations use. */
export interface ExplainContext {
  task: string;
  call: (...given: unknown[]) => Promise<unknown>;
  tokenizer: PipelineTokenizer;
  /** Absent without the training engine. */
  gradient?: ExplainGradient | undefined;
}
