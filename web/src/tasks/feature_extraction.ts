// feature-extraction: the encoder's hidden states, as they are or pooled to one vector a text.
import { type CallOptions, type OneOrMany, type OptionNames, type Run, textsCall } from './call.js';
import type { NumberArray } from './results.js';

/** Options of feature extraction. */
export interface FeatureExtractionOptions extends CallOptions {
  /**
   * 'none': every token, special ones included. Else one vector: the first token's, the mean, the maximum; or 'sentence', which is
   * what the model's own folder says as sentence-transformers saved it, whole: prompts, limit of length (longer texts are cut),
   * pooling, dense layers, normalisation; a folder that says nothing means 'mean'. Default: 'sentence' with a prompt, else 'none'.
   */
  pooling?: 'none' | 'cls' | 'mean' | 'max' | 'sentence';
  /** A text to put before each text, for 'sentence'. Default: the folder's default prompt, which '' leaves out. */
  prompt?: string;
  /** The same by its name in the folder: 'query', say. */
  prompt_name?: string;
  /** Keep the first so many numbers of each vector, for models that were trained for that (Matryoshka); `normalize` comes after. */
  dimensions?: number;
  /** Which hidden state: 0 is the embeddings, 1 the first layer, and so on; -1, the default, the last. */
  layer?: number;
  /** Divide each vector by its length. Default false. */
  normalize?: boolean;
  /** Cut a text that is longer than the model takes. Default false: such a text is refused with 'text_too_long'. */
  truncation?: boolean;
}

/** Vectors of a text. */
export interface Features {
  /** [tokens, hidden size], or [1, hidden size] with pooling. */
  dims: number[];
  /** Row by row. */
  data: Float32Array;
  /** The rows as lists. */
  tolist(): number[][];
}

/** `extract(text)`, `extract([text, ...])`: texts differ in length, so several give a list and not one tensor. */
export type FeatureExtractionCall = <I extends string | readonly string[]>(
  texts: I,
  options?: FeatureExtractionOptions,
) => Promise<OneOrMany<I, Features>>;

const kOptions: OptionNames<FeatureExtractionOptions> = {
  pooling: true,
  prompt: true,
  prompt_name: true,
  dimensions: true,
  layer: true,
  normalize: true,
  truncation: true,
};

/** Makes the call. */
export function featureExtraction(run: Run): FeatureExtractionCall {
  const withRows: Run = async (...args) => {
    const results = (await run(...args)) as NumberArray[];
    return results.map(({ dims, data }) => asFeatures(dims.length === 1 ? [1, ...dims] : dims, data));
  };
  return textsCall<FeatureExtractionOptions, Features>('feature-extraction', kOptions, withRows);
}

function asFeatures(dims: number[], data: Float32Array): Features {
  const [rows = 0, width = 0] = dims;
  const tolist = () => Array.from({ length: rows }, (_, row) => Array.from(data.subarray(row * width, (row + 1) * width)));
  return Object.defineProperty({ dims, data } as Features, 'tolist', { value: tolist }); // Not to be cloned, printed or compared.
}
