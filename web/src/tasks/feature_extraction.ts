// feature-extraction: the encoder's hidden states, as they are or pooled to one vector a text.
import { textsCall, type CallOptions, type OneOrMany, type OptionNames, type Run } from './call.js';

/** Options of feature extraction. */
export interface FeatureExtractionOptions extends CallOptions {
  /** 'none' (the default): every token, special ones included. Else one vector: the first token's, the mean, the maximum. */
  pooling?: 'none' | 'cls' | 'mean' | 'max';
  /** Which hidden state: 0 is the embeddings, 1 the first layer, and so on; -1, the default, the last. */
  layer?: number;
  /** Divide each vector by its length. Default false. */
  normalize?: boolean;
  /** Cut a text that is longer than the model takes. Default false: such a text is refused with 'text_too_long'. */
  truncation?: boolean;
}

/** Vectors of a text. */
export interface Features {
  /** [tokens, hidden size], or [hidden size] with pooling. */
  dims: number[];
  /** Row by row. */
  data: Float32Array;
}

/** `extract(text)`, `extract([text, ...])`: texts differ in length, so several give a list and not one tensor. */
export type FeatureExtractionCall = <I extends string | readonly string[]>(
  texts: I, options?: FeatureExtractionOptions,
) => Promise<OneOrMany<I, Features>>;

const kOptions: OptionNames<FeatureExtractionOptions> = { pooling: true, layer: true, normalize: true, truncation: true };

/** Makes the call. */
export function featureExtraction(run: Run): FeatureExtractionCall {
  const withData: Run = async (...args) => {
    const results = (await run(...args)) as { dims: number[]; data: number[] }[];
    return results.map(({ dims, data }) => ({ dims, data: Float32Array.from(data) }));
  };
  return textsCall<FeatureExtractionOptions, Features>('feature-extraction', kOptions, withData);
}
