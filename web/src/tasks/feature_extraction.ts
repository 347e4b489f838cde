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
   * files say about prompts, length limit, pooling, dense layers and normalisation, or else the mean. 'splade' returns a sparse vector
   * (SparseFeatures) of a SparseEncoder, or of a model that was loaded with this pooling. 'multi_vector' returns a matrix of a late-interaction
   * model (ColBERT) or of one loaded with this pooling, whose rows `max_sim` compares. Default: 'sentence' if a prompt or a task is given, otherwise
   * 'none'.
   */
  pooling: option({
    kind: ['none', 'cls', 'first_token', 'last_token', 'eos', 'mean', 'max', 'sentence', 'splade', 'multi_vector'],
    default: "`'none'`; with a prompt or a task `'sentence'`",
    flag: { except: ['none', 'first_token', 'eos', 'splade', 'multi_vector'], help: 'how token vectors become one (mean)' },
  }),
  /**
   * The role of the texts in retrieval, for 'sentence', 'splade' and 'multi_vector': chooses the prompt, unless one is given, and the modules of the
   * model that encode the texts. Default: the model's default prompt and modules.
   */
  task: option({
    kind: ['query', 'document'],
    default: "the folder's",
    flag: { help: 'chooses the prompt and the modules of the model' },
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
  /** For 'splade': keep only this many largest weights of each vector. Default: the folder's `max_active_dims`, else all that are not zero. */
  top_k: option({ kind: 'number' }),
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

/** The sparse vector of a text (SPLADE): the weights of tokens of the vocabulary, largest first. All others are zero. */
export interface SparseFeatures {
  /** Ids of the tokens. */
  indices: Uint32Array;
  /** The weights; all are positive. */
  values: Float32Array;
  /** The tokens as the tokenizer writes them. */
  tokens: string[];
  /** The length of the vector: the size of the vocabulary. */
  size: number;
}

/** Vectors packed to bits: [texts, hidden size / 8]. */
export type PackedFeatures = Tensor<Int8Array | Uint8Array>;

/**
 * Results of several texts without pooling: for each text its tokens' vectors, [tokens, hidden size]. With 'multi_vector' the matrix of each
 * text, [rows, numbers].
 */
export type FeaturesList = Tensor[] & {
  /** The vectors as lists. */
  tolist(): number[][][];
  /** Throws 'unsupported', because texts have different numbers of tokens. */
  readonly dims: number[];
};

type PoolingOf<O> = O extends { pooling: infer P }
  ? P
  : O extends { prompt: string } | { prompt_name: string } | { task: string }
    ? 'sentence'
    : 'none';
type Unpooled<I> = I extends readonly unknown[] ? FeaturesList : Tensor;
type Sparse<I> = I extends readonly unknown[] ? SparseFeatures[] : SparseFeatures;
type Pooled<P, I> = P extends 'splade' ? Sparse<I> : P extends 'none' | 'multi_vector' ? Unpooled<I> : Tensor;

/** [texts, hidden size] with pooling; [1, tokens, hidden size] for one text without; [rows, numbers] for one text with 'multi_vector'. */
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
    checkRoute(options.task, context);
    const packed = checkPrecision(quantize, precision);
    const inputs = asList(input).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const settings = pooling === undefined ? rest : { ...rest, pooling: kPoolings[pooling as string] ?? pooling };
    if (pooling === 'splade') {
      if (packed !== undefined) throw new PeruseError('invalid_argument', 'quantize is for dense vectors.');
      const sparse = ((await run(inputs, settings, options)) as EngineSparse[]).map(asSparse);
      return Array.isArray(input) ? sparse : sparse[0];
    }
    const results = (await runCutting(run, inputs, settings, options, context)) as NumberArray[];
    const isPooled = results.every(({ dims }) => dims.length === 1);
    if (packed !== undefined && !isPooled) throw new PeruseError('invalid_argument', 'quantize needs a pooling.');
    if (!isPooled) {
      const texts = results.map(({ dims, data }) => new Tensor('float32', data, dims));
      if (Array.isArray(input)) return asFeaturesList(texts);
      return pooling === 'multi_vector' ? texts[0] : new Tensor('float32', texts[0]!.data, [1, ...texts[0]!.dims]);
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
  loadOptions: ['lora_task', 'pooling', 'route'],
} as const satisfies TaskDefinition;

/** A sparse vector in the engine's results (core/api/results.h). */
interface EngineSparse {
  indices: number[];
  tokens: string[];
  size: number;
  values: NumberArray;
}

function asSparse({ indices, tokens, size, values }: EngineSparse): SparseFeatures {
  return { indices: Uint32Array.from(indices), values: values.data, tokens, size };
}

/** A pipeline of one route only encodes texts of that route. */
function checkRoute(task: unknown, { defaults }: CallContext): void {
  const { route } = (defaults ?? {}) as { route?: string };
  if (route === undefined || task === undefined || task === route) return;
  throw new PeruseError('invalid_argument', `task is ${show(task)}, and the pipeline was loaded with route ${show(route)}.`);
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
