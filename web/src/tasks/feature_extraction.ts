import { PeruseError, show } from '../errors.js';
import { type Given, option } from '../options.js';
import { Tensor } from '../tensor.js';
import { asList, type CallOptions, callOptions, checkString, engineOptions, type NoOptions, type Run } from './call.js';
import { runCutting } from './cutting.js';
import type { CallContext, TaskDefinition } from './definition.js';
import type { NumberArray } from './results.js';
import { type BinaryPrecision, packBits } from './vectors.js';

const kTask = 'feature-extraction';
const kOptions = callOptions(kTask, {
  /**
   * 'none' returns a vector for each token, special tokens included. The others return one vector for each text: the first token's ('cls' or
   * 'first_token'), the last token's ('last_token' or 'eos'), the mean, the maximum, or 'sentence': whatever the model's sentence-transformers
   * files say about prompts, length limit, pooling, dense layers and normalisation, or else the mean. Default: 'sentence' if a prompt is
   * given, otherwise 'none'.
   */
  pooling: option({
    kind: ['none', 'cls', 'first_token', 'last_token', 'eos', 'mean', 'max', 'sentence'],
    default: "`'none'`; with a prompt `'sentence'`",
    flag: { except: ['none', 'first_token', 'eos'], help: 'how token vectors become one (mean)' },
  }),
  /** For 'sentence': a text to put before each text. Default: the model's default prompt; '' means no prompt. */
  prompt: option({ kind: 'string', flag: { help: 'a text to put before each text; implies pooling sentence' } }),
  /** The prompt by its name in the model's files, for example 'query'. */
  prompt_name: option({
    kind: 'string',
    default: "the folder's default",
    flag: { help: "a prompt by its name in the model's files, for example query; implies pooling sentence" },
  }),
  /** Keep only this many first numbers of each vector, before `normalize`, for models trained for that (Matryoshka embeddings). */
  dimensions: option({
    kind: 'number',
    default: "the folder's `truncate_dim`, else all",
    flag: { help: 'keep the first n numbers of each vector' },
  }),
  /** The hidden state to return: 0 means the embeddings, 1 the first layer's output, -1 (default) the last layer's. */
  layer: option({ kind: 'number', default: -1 }),
  /** Scale each vector to length 1. Default false. */
  normalize: option({ kind: 'boolean', default: false, flag: { help: 'scale each vector to length 1' } }),
  /** Cut a text that exceeds the model's limit. By default such a text is cut, too, and `info.notices` says by how many tokens; false throws 'text_too_long'. */
  truncation: option({
    kind: 'boolean',
    default: 'with a notice',
    flag: { name: 'truncate', help: 'cut texts that are too long; by default they are an error' },
  }),
  /** Store one bit for each number of a pooled vector: 32 times smaller. Default false. */
  quantize: option({ kind: 'boolean', default: false }),
  /** Type of the bytes with `quantize`: 'binary' (default) is signed, 'ubinary' unsigned. */
  precision: option({ kind: ['binary', 'ubinary'], default: 'binary' }),
});

/** Options of feature extraction. */
export interface FeatureExtractionOptions extends CallOptions, Given<typeof kOptions> {}

/** Vectors packed to bits: [texts, hidden size / 8]. */
export type PackedFeatures = Tensor<Int8Array | Uint8Array>;

/** Results of several texts without pooling: for each text its tokens' vectors, [tokens, hidden size]. */
export type FeaturesList = Tensor[] & {
  /** The vectors as lists. */
  tolist(): number[][][];
  /** Throws 'unsupported', because texts have different numbers of tokens. */
  readonly dims: number[];
};

type PoolingOf<O> = O extends { pooling: infer P } ? P : O extends { prompt: string } | { prompt_name: string } ? 'sentence' : 'none';
type Unpooled<I> = I extends readonly unknown[] ? FeaturesList : Tensor;
type Pooled<P, I> = P extends 'none' ? Unpooled<I> : Tensor;

/** [texts, hidden size] with pooling; [1, tokens, hidden size] for one text without. */
export type FeatureExtractionOutput<I, O> = O extends { quantize: true }
  ? PackedFeatures
  : [keyof O] extends [never]
    ? Unpooled<I>
    : FeatureExtractionOptions extends O
      ? Tensor | Unpooled<I>
      : Pooled<PoolingOf<O>, I>;

/** The call of feature extraction. */
export interface FeatureExtractionCall {
  /** Returns the vectors of a text, `extract('A text.', { pooling: 'mean', normalize: true })`, or those of several as the rows of one tensor. */
  <I extends string | readonly string[], const O extends FeatureExtractionOptions = NoOptions>(
    texts: I,
    options?: O,
  ): Promise<FeatureExtractionOutput<I, O>>;
}

const kPoolings: Record<string, string> = { first_token: 'cls', eos: 'last_token' };

function createCall(run: Run, context: CallContext): FeatureExtractionCall {
  const call = async (input: unknown, options: FeatureExtractionOptions = {}) => {
    const { quantize, precision, pooling, ...rest } = engineOptions(kTask, kOptions, options);
    const packed = checkPrecision(quantize, precision);
    const inputs = asList(input).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const settings = pooling === undefined ? rest : { ...rest, pooling: kPoolings[pooling as string] ?? pooling };
    const results = (await runCutting(run, inputs, settings, options, context)) as NumberArray[];
    const isPooled = results.every(({ dims }) => dims.length === 1);
    if (packed !== undefined && !isPooled) throw new PeruseError('invalid_argument', 'quantize needs a pooling.');
    if (!isPooled) {
      const texts = results.map(({ dims, data }) => new Tensor('float32', data, dims));
      return Array.isArray(input) ? asFeaturesList(texts) : new Tensor('float32', texts[0]!.data, [1, ...texts[0]!.dims]);
    }
    const rows = joinRows(results);
    return packed === undefined ? rows : packBits(rows, packed);
  };
  return call as FeatureExtractionCall;
}

/** The task. */
export const featureExtraction = {
  engine: { name: kTask, sentenceFiles: 'all', readsStatic: true },
  call: createCall,
  options: kOptions,
  example: 'sentence-transformers/all-MiniLM-L6-v2',
  loadOptions: ['lora_task'],
} as const satisfies TaskDefinition;

function checkPrecision(quantize: unknown, precision: unknown = 'binary'): BinaryPrecision | undefined {
  if (quantize !== undefined && typeof quantize !== 'boolean') {
    throw new PeruseError('invalid_argument', `quantize must be true or false, not ${show(quantize)}.`);
  }
  if (precision !== 'binary' && precision !== 'ubinary') {
    throw new PeruseError('invalid_argument', `precision must be 'binary' or 'ubinary', not ${show(precision)}.`);
  }
  return quantize === true ? precision : undefined;
}

/** The vectors of all texts in one array. */
function joinRows(vectors: readonly NumberArray[]): Tensor {
  const width = vectors[0]?.data.length ?? 0;
  const data = new Float32Array(vectors.length * width);
  for (const [row, vector] of vectors.entries()) data.set(vector.data, row * width);
  return new Tensor('float32', data, [vectors.length, width]);
}

/** Adds members that are not cloned, printed or compared. */
function asFeaturesList(texts: Tensor[]): FeaturesList {
  const dims = () => {
    throw new PeruseError('unsupported', 'Without pooling, texts have different numbers of tokens. Read the dims of each result.');
  };
  const tolist = () => texts.map((text) => text.tolist());
  return Object.defineProperties(texts, { dims: { get: dims }, tolist: { value: tolist } }) as unknown as FeaturesList;
}
