// feature-extraction: the encoder's hidden states, as they are or pooled to one vector a text.
import { textsCall, type CallOptions, type OneOrMany, type OptionNames, type Run } from './call.js';

export interface FeatureExtractionOptions extends CallOptions {
  /** 'none' (the default): every token, special ones included. Else one vector: the first token's, the mean, the maximum. */
  pooling?: 'none' | 'cls' | 'mean' | 'max';
  /** Divide each vector by its length. Default false. */
  normalize?: boolean;
  /** Cut a text that is longer than the model takes. Default false: such a text is refused with 'text_too_long'. */
  truncation?: boolean;
}

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

const kOptions: OptionNames<FeatureExtractionOptions> = { pooling: true, normalize: true, truncation: true };

export function featureExtraction(run: Run): FeatureExtractionCall {
  const withData: Run = async (...args) => {
    const results = (await run(...args)) as { dims: number[]; data: number[] }[];
    return results.map(({ dims, data }) => ({ dims, data: Float32Array.from(data) }));
  };
  return textsCall<FeatureExtractionOptions, Features>('feature-extraction', kOptions, withData);
}
