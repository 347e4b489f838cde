export interface PipelineCase {
  name: string;
  task: string;
  model: string;
  args?: readonly unknown[];
  load?: object;
  set?: object;
}

export interface TokenizerCase {
  name: string;
  model: string;
  use(tokenizer: unknown): unknown;
}

export const kPipelineCases: readonly PipelineCase[];
export const kTokenizerCases: readonly TokenizerCase[];
export function runPipelineCase(library: object, one: PipelineCase, options: object): Promise<unknown>;
export function runTokenizerCase(library: object, one: TokenizerCase, options: object): Promise<unknown>;
