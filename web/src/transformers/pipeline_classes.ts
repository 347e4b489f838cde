// The classes of pipelines, as types of pipelines that have transformers.js's tokenizers and models, and transformers.js's names of types.
import * as peruse from '../face.js';
import type { Pipeline } from './pipeline.js';
import type { PreTrainedTokenizerOptions } from './tokenizers.js';

export type { ZeroShotClassificationOutput } from '../face.js';

/** A class for `instanceof`. */
interface PipelineClass<T extends peruse.Task> {
  new (...given: never[]): Pipeline<T>;
}

/** A pipeline for feature-extraction. */
export const FeatureExtractionPipeline = peruse.FeatureExtractionPipeline as unknown as PipelineClass<'feature-extraction'>;
export type FeatureExtractionPipeline = Pipeline<'feature-extraction'>;

/** A pipeline for fill-mask. */
export const FillMaskPipeline = peruse.FillMaskPipeline as unknown as PipelineClass<'fill-mask'>;
export type FillMaskPipeline = Pipeline<'fill-mask'>;

/** A pipeline for question-answering. */
export const QuestionAnsweringPipeline = peruse.QuestionAnsweringPipeline as unknown as PipelineClass<'question-answering'>;
export type QuestionAnsweringPipeline = Pipeline<'question-answering'>;

/** A pipeline for text-classification. */
export const TextClassificationPipeline = peruse.TextClassificationPipeline as unknown as PipelineClass<'text-classification'>;
export type TextClassificationPipeline = Pipeline<'text-classification'>;

/** A pipeline for token-classification. */
export const TokenClassificationPipeline = peruse.TokenClassificationPipeline as unknown as PipelineClass<'token-classification'>;
export type TokenClassificationPipeline = Pipeline<'token-classification'>;

/** A pipeline for zero-shot-classification. */
export const ZeroShotClassificationPipeline = peruse.ZeroShotClassificationPipeline as unknown as PipelineClass<'zero-shot-classification'>;
export type ZeroShotClassificationPipeline = Pipeline<'zero-shot-classification'>;

// The pipelines, as versions 2 and 3 name their types.
export type FeatureExtractionPipelineType = FeatureExtractionPipeline;
export type FillMaskPipelineType = FillMaskPipeline;
export type QuestionAnsweringPipelineType = QuestionAnsweringPipeline;
export type TextClassificationPipelineType = TextClassificationPipeline;
export type TokenClassificationPipelineType = TokenClassificationPipeline;
export type ZeroShotClassificationPipelineType = ZeroShotClassificationPipeline;

/** A proposal for a mask. */
export type FillMaskSingle = peruse.MaskProposal;
/** The proposals for a mask. */
export type FillMaskOutput = FillMaskSingle[];
/** An answer. */
export type QuestionAnsweringOutput = peruse.Answer;
/** A label and its score. */
export type TextClassificationSingle = peruse.LabelScore;
/** The labels of a text. */
export type TextClassificationOutput = TextClassificationSingle[];
/** A tagged token. */
export type TokenClassificationSingle = peruse.TokenEntity;
/** The tagged tokens of a text. */
export type TokenClassificationOutput = TokenClassificationSingle[];
/** The options of loads. */
export type PretrainedModelOptions = peruse.PipelineOptions;
/** The options of loads of tokenizers. */
export type PretrainedTokenizerOptions = PreTrainedTokenizerOptions;
/** A device's name. */
export type DeviceType = Extract<peruse.PipelineOptions['device'], string>;
/** A precision's name. */
export type DataType = Extract<peruse.PipelineOptions['dtype'], string>;
/** The numbers of a tensor. */
export type DataArray = peruse.TensorData;
