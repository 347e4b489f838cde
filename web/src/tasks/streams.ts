// The types of `stream` by task. Tasks whose input is one query or prompt have none.

import type { Redaction, RedactOptions } from '../redact/types.js';
import type { Tensor } from '../tensor.js';
import type { CallOptions, NoOptions } from './call.js';
import type { FeatureExtractionOptions, PackedFeatures } from './feature_extraction.js';
import type { FillMaskOptions, FillMaskOutput } from './fill_mask.js';
import type { QuestionAnsweringOptions, QuestionAnsweringOutput } from './question_answering.js';
import type { ReplacedTokenDetectionCall } from './replaced_token_detection.js';
import type { StreamInputs, StreamOptions } from './stream.js';
import type { ExtractionResult, ExtractionSchema, StructuredExtractionOptions } from './structured_extraction.js';
import type { TextClassificationOptions, TextClassificationOutput, TextPair } from './text_classification.js';
import type { TokenClassificationOptions, TokenClassificationOutput } from './token_classification.js';
import type { ZeroShotClassificationOptions, ZeroShotClassificationOutput } from './zero_shot_classification.js';
import type { LabelledSpan, ZeroShotTokenClassificationOptions } from './zero_shot_token_classification.js';

export type { StreamInputs, StreamOptions, StreamProgress } from './stream.js';

/** Results in the order of the inputs. */
export type ResultStream<R> = AsyncGenerator<R, void, undefined>;

/** A question and the text that answers it. */
export interface QuestionInput {
  question: string;
  context: string;
}

type TextStream<O extends CallOptions, R> = (texts: StreamInputs<string>, options?: O & StreamOptions) => ResultStream<R>;

/** Each result is an item of the list that the call returns for a list of inputs. */
export interface Streams {
  'text-classification': <const O extends TextClassificationOptions = NoOptions>(
    texts: StreamInputs<string | TextPair>,
    options?: O & StreamOptions,
  ) => ResultStream<TextClassificationOutput<string[], O>[number]>;
  'token-classification': <const O extends TokenClassificationOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<TokenClassificationOutput<O>>;
  'question-answering': <const O extends QuestionAnsweringOptions = NoOptions>(
    inputs: StreamInputs<QuestionInput>,
    options?: O & StreamOptions,
  ) => ResultStream<QuestionAnsweringOutput<string, O>>;
  'zero-shot-classification': (
    texts: StreamInputs<string>,
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions & StreamOptions,
  ) => ResultStream<ZeroShotClassificationOutput>;
  'zero-shot-token-classification': (
    texts: StreamInputs<string>,
    labels: string | readonly string[],
    options?: ZeroShotTokenClassificationOptions & StreamOptions,
  ) => ResultStream<LabelledSpan[]>;
  'structured-extraction': (
    texts: StreamInputs<string>,
    schema: ExtractionSchema,
    options?: StructuredExtractionOptions & StreamOptions,
  ) => ResultStream<ExtractionResult>;
  'fill-mask': <const O extends FillMaskOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<FillMaskOutput<O>>;
  'feature-extraction': <O extends FeatureExtractionOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<O extends { quantize: true } ? PackedFeatures : Tensor>;
  'replaced-token-detection': TextStream<CallOptions, Awaited<ReturnType<ReplacedTokenDetectionCall>>[number]>;
  redact: TextStream<RedactOptions, Redaction>;
}

/** The call's `stream`, where the task has one. */
export type Streaming<T> = T extends keyof Streams
  ? {
      /** Yields a result for each input, in order, while the next inputs are computed. Inputs are read as fast as results are taken. */
      readonly stream: Streams[T];
    }
  : unknown;
