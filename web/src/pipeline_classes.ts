// transformers.js's names of pipelines: types, and classes for `instanceof`.
import { PeruseError } from './errors.js';
import type { Pipeline } from './pipeline_members.js';
import type { Task, TaskOrAlias } from './tasks/tasks.js';

/** transformers.js's name of the type of a task. */
export type PipelineType = TaskOrAlias;

interface PipelineClass<T extends Task> {
  /** Throws 'unsupported': pipeline() makes pipelines. */
  new (...given: never[]): Pipeline<T>;
}

function classOf<T extends Task>(task: T): PipelineClass<T> {
  class NamedPipeline {
    constructor() {
      throw new PeruseError('unsupported', `Use pipeline('${task}', model) to make a pipeline.`);
    }

    static [Symbol.hasInstance](value: unknown): boolean {
      return typeof value === 'function' && (value as Partial<Pipeline>).task === task;
    }
  }
  return NamedPipeline as unknown as PipelineClass<T>;
}

/** A pipeline for text-classification. */
export const TextClassificationPipeline = classOf('text-classification');
export type TextClassificationPipeline = Pipeline<'text-classification'>;
/** A pipeline for token-classification. */
export const TokenClassificationPipeline = classOf('token-classification');
export type TokenClassificationPipeline = Pipeline<'token-classification'>;
/** A pipeline for question-answering. */
export const QuestionAnsweringPipeline = classOf('question-answering');
export type QuestionAnsweringPipeline = Pipeline<'question-answering'>;
/** A pipeline for zero-shot-classification. */
export const ZeroShotClassificationPipeline = classOf('zero-shot-classification');
export type ZeroShotClassificationPipeline = Pipeline<'zero-shot-classification'>;
/** A pipeline for fill-mask. */
export const FillMaskPipeline = classOf('fill-mask');
export type FillMaskPipeline = Pipeline<'fill-mask'>;
/** A pipeline for feature-extraction. */
export const FeatureExtractionPipeline = classOf('feature-extraction');
export type FeatureExtractionPipeline = Pipeline<'feature-extraction'>;
