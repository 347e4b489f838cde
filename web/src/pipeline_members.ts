// The members `explain` and `stream` of pipelines, whose work is done in extras.ts, which loads on use, and for gradients in peruse/teach.
import type { AnyPipelineOptions } from './pipeline_options.js';
import { platform } from './platform/current.js';
import type { SourceSpec } from './sources/source.js';
import type { Explains } from './tasks/explanations.js';
import type { ExplainGradient } from './tasks/gradient.js';
import { definitionOf, type Task } from './tasks/tasks.js';
import type { PipelineTokenizer } from './tasks/tokenizer_calls.js';
import { untilReturned } from './tasks/until_returned.js';

/** The model of a pipeline, to be read again. */
export interface LoadedFrom {
  task: Task;
  spec: SourceSpec;
  options: AnyPipelineOptions;
}

export interface Gradients {
  explain: ExplainGradient;
  dispose(): void;
}

let provided: ((model: LoadedFrom) => Gradients) | undefined;

/** Called by peruse/teach when it is imported. */
export function provideGradients(open: (model: LoadedFrom) => Gradients): void {
  provided = open;
}

type Call = (...given: unknown[]) => Promise<unknown>;

export function explaining(model: LoadedFrom, call: Call, tokenizer: PipelineTokenizer): { members: { explain?: Call }; dispose(): void } {
  const { task } = model;
  let gradients: Gradients | undefined;
  const dispose = () => gradients?.dispose();
  if (!definitionOf(task).explains) return { members: {}, dispose };
  const gradient: ExplainGradient = (request, signal) => {
    gradients ??= provided!(model);
    return gradients.explain(request, signal);
  };
  const explain: Call = async (...given) =>
    (await platform().extras()).explain({ task: task as keyof Explains, call, tokenizer, gradient: provided && gradient }, given);
  return { members: { explain }, dispose };
}

export function streaming(task: Task, call: Call): { stream?: (...given: unknown[]) => AsyncGenerator<unknown, void, undefined> } {
  if (definitionOf(task).oneInput) return {};
  return {
    stream: (inputs, ...rest) =>
      untilReturned(async function* (returned) {
        yield* (await platform().extras()).streamOf(task, call, returned)(inputs, ...rest);
      }),
  };
}
