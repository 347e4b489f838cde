// feature-extraction: the encoder's hidden states, as they are or pooled to one vector a text.
import { PeruseError, show } from '../errors.js';
import { asList, type CallOptions, checkString, engineOptions, type OptionNames, type Run } from './call.js';
import type { NumberArray } from './results.js';
import { asRows, type BinaryPrecision, packBits, type Rows } from './vectors.js';

/** Options of feature extraction. */
export interface FeatureExtractionOptions extends CallOptions {
  /**
   * 'none': every token, special ones included. Else one vector: the first token's ('cls' or 'first_token'), the last token's
   * ('last_token' or 'eos'), the mean, the maximum; or 'sentence', which is what the model's own folder says as
   * sentence-transformers saved it, whole: prompts, limit of length (longer texts are cut), pooling, dense layers,
   * normalisation; a folder that says nothing means 'mean'. Default: 'sentence' with a prompt, else 'none'.
   */
  pooling?: 'none' | 'cls' | 'first_token' | 'last_token' | 'eos' | 'mean' | 'max' | 'sentence';
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
  /** Cut a text that exceeds the model's limit. By default such a text is an error, 'text_too_long'. */
  truncation?: boolean;
  /** Pack each vector to one bit for each number: 32 times smaller. Needs a pooling. Default false. */
  quantize?: boolean;
  /** What packed vectors hold: 'binary', the default, signed bytes; 'ubinary' unsigned ones. */
  precision?: BinaryPrecision;
}

/** Vectors of a text: dims are [tokens, hidden size], or [1, hidden size] with pooling. */
export type Features = Rows;

/** A vector packed to bits: dims are [1, hidden size / 8]. */
export type PackedFeatures = Rows<Int8Array | Uint8Array>;

/** Results of several texts: a list, which with pooling is a matrix too. */
export type FeaturesList<F> = F[] & {
  /** [texts, hidden size]; without pooling texts differ in length, and it throws. */
  readonly dims: number[];
  /** The vectors as lists; without pooling a list of vectors for each text. */
  tolist(): number[][] | number[][][];
};

type FeaturesOf<O> = O extends { quantize: true } ? PackedFeatures : Features;
type Result<I, F> = I extends readonly unknown[] ? FeaturesList<F> : F;

/** `extract(text)`, `extract([text, ...])`: texts differ in length, so several give a list and not one tensor. */
export type FeatureExtractionCall = <I extends string | readonly string[], O extends FeatureExtractionOptions = FeatureExtractionOptions>(
  texts: I,
  options?: O,
) => Promise<Result<I, FeaturesOf<O>>>;

const kOptions: OptionNames<FeatureExtractionOptions> = {
  pooling: true,
  prompt: true,
  prompt_name: true,
  dimensions: true,
  layer: true,
  normalize: true,
  truncation: true,
  quantize: true,
  precision: true,
};

/** The engine's names of poolings that transformers.js calls otherwise. */
const kPoolings: Record<string, string> = { first_token: 'cls', eos: 'last_token' };

/** Makes the call. */
export function featureExtraction(run: Run): FeatureExtractionCall {
  const call = async (texts: unknown, options: FeatureExtractionOptions = {}) => {
    const { quantize, precision, pooling, ...rest } = engineOptions('feature-extraction', kOptions, options);
    const packed = checkPrecision(quantize, precision);
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const settings = pooling === undefined ? rest : { ...rest, pooling: kPoolings[pooling as string] ?? pooling };
    const results = (await run(inputs, settings, options.signal)) as NumberArray[];
    const isPooled = results.every(({ dims }) => dims.length === 1);
    if (packed !== undefined && !isPooled) throw new PeruseError('invalid_argument', 'quantize needs a pooling.');
    const rows = results.map(({ dims, data }) => asRows(isPooled ? [1, ...dims] : dims, data));
    const features: (Features | PackedFeatures)[] = packed === undefined ? rows : rows.map((row) => packBits(row, packed));
    return Array.isArray(texts) ? asMatrix(features, isPooled) : features[0];
  };
  return call as FeatureExtractionCall;
}

function checkPrecision(quantize: unknown, precision: unknown = 'binary'): BinaryPrecision | undefined {
  if (quantize !== undefined && typeof quantize !== 'boolean') {
    throw new PeruseError('invalid_argument', `quantize must be true or false, not ${show(quantize)}.`);
  }
  if (precision !== 'binary' && precision !== 'ubinary') {
    throw new PeruseError('invalid_argument', `precision must be 'binary' or 'ubinary', not ${show(precision)}.`);
  }
  return quantize === true ? precision : undefined;
}

/** The list, with `dims` and `tolist()` of the matrix that its vectors are. */
function asMatrix<F extends Features | PackedFeatures>(list: F[], isPooled: boolean): FeaturesList<F> {
  const dims = () => {
    if (isPooled) return [list.length, list[0]?.dims[1] ?? 0];
    throw new PeruseError('unsupported', 'Without pooling texts have different numbers of tokens: read the dims of each one.');
  };
  const tolist = () => (isPooled ? list.map((one) => one.tolist()[0]!) : list.map((one) => one.tolist()));
  return Object.defineProperties(list, { dims: { get: dims }, tolist: { value: tolist } }) as unknown as FeaturesList<F>;
}
