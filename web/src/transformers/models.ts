// Models that read token ids, with the outputs of transformers.js's.
import {
  type NumberArray,
  PeruseError,
  type Pipeline,
  type PipelineOptions,
  pipeline,
  type Source,
  type Task,
  Tensor,
  type TokenIds,
} from '../face.js';
import { Tokenizer } from '../tokenizer/tokenizer.js';
import { type PreTrainedTokenizerOptions, type TokenTensor, tokenizerOptions, withCall } from './tokenizers.js';

/** What a tokenizer returns. */
export interface ModelInputs {
  input_ids: TokenTensor;
  /** 0 for padding, which is not read. Default: all 1. */
  attention_mask?: TokenTensor;
  token_type_ids?: TokenTensor;
}

/** What the model of a pipeline returns: the outputs of its head. */
export type OutputTensors = Record<string, Tensor>;

/** A model: a function with members. */
export interface PreTrainedModel<O = OutputTensors> {
  (inputs: ModelInputs): Promise<O>;
  /** The same as calling the model. */
  forward(inputs: ModelInputs): Promise<O>;
  /** The content of config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Frees the memory. */
  dispose(): Promise<void>;
}

/** The kinds of the models that were made, for `instanceof`. */
const kKinds = new WeakMap<object, Kind<unknown>>();
const kindOf = (value: unknown) => (typeof value === 'function' ? kKinds.get(value) : undefined);

/** The class of all models, for `instanceof`. */
export const PreTrainedModel = class {
  /** Throws 'unsupported': from_pretrained() of the other classes makes models. */
  constructor() {
    throw new PeruseError('unsupported', 'Use from_pretrained() of AutoModel or of another class to load a model.');
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return kindOf(value) !== undefined;
  }
};

/** The numbers of a text or of its tokens, and the positions of its tokens in the batch. */
interface Row {
  values: Pick<NumberArray, 'data' | 'dims'>;
  positions: number[];
}

interface Kind<O> {
  task: Task;
  /** Reads the last hidden state instead of logits. */
  hidden?: true;
  outputOf(rows: readonly Row[], tokens: number): O;
}

function modelClass<O>(kind: Kind<O>) {
  return class extends PreTrainedModel {
    /** Loads a model with its head. */
    static async from_pretrained(source: Source, options: PipelineOptions = {}): Promise<PreTrainedModel<O>> {
      return modelOf((await pipeline(kind.task, source, options)) as Pipeline, kind);
    }

    static override [Symbol.hasInstance](value: unknown): boolean {
      return kindOf(value) === kind;
    }
  };
}

function modelOf<O>(pipe: Pipeline, kind: Kind<O>): PreTrainedModel<O> {
  const { hidden, outputOf } = kind;
  const wanted = hidden ? { output_hidden_states: true, layers: [-1] } : { output_logits: true };
  const call = async (inputs: ModelInputs): Promise<O> => {
    const { dims } = checked(inputs).input_ids;
    const [texts = 0, tokens = 0] = dims;
    const rows = Array.from({ length: texts }, (_, row) => unpadded(inputs, row, tokens));
    const found = await pipe.inspect(rows, wanted);
    const valued = found.map(({ hidden_states, logits }, row) => ({
      values: (hidden ? hidden_states![0] : logits)!,
      positions: rows[row]!.positions,
    }));
    return outputOf(valued, tokens);
  };
  const model = withCall(call, { forward: call, config: pipe.model.config, dispose: () => pipe.dispose() });
  kKinds.set(model, kind);
  return model;
}

function checked(inputs: ModelInputs): ModelInputs {
  const { input_ids: ids, attention_mask, token_type_ids } = inputs ?? {};
  const masks = [attention_mask, token_type_ids].filter((one) => one !== undefined && one !== null);
  if (ids instanceof Tensor && ids.dims.length === 2 && masks.every((mask) => mask instanceof Tensor && mask.size === ids.size))
    return inputs;
  throw new PeruseError('invalid_argument', 'input_ids must be a tensor [texts, tokens], and the other inputs as large.');
}

/** The tokens of a row whose mask is not 0. */
function unpadded(
  { input_ids, attention_mask, token_type_ids }: ModelInputs,
  row: number,
  tokens: number,
): TokenIds & Pick<Row, 'positions'> {
  const at = ({ data }: TokenTensor, token: number) => Number(data[row * tokens + token]);
  const all = Array.from({ length: tokens }, (_, token) => token);
  const positions = attention_mask ? all.filter((token) => at(attention_mask, token) !== 0) : all;
  const types = token_type_ids && { type_ids: positions.map((token) => at(token_type_ids, token)) };
  return { positions, ids: positions.map((token) => at(input_ids, token)), ...types };
}

/** [texts, labels] */
function ofTexts(rows: readonly Row[]): Tensor {
  const width = rows[0]?.values.data.length ?? 0;
  const data = new Float32Array(rows.length * width);
  for (const [row, { values }] of rows.entries()) data.set(values.data, row * width);
  return new Tensor('float32', data, [rows.length, width]);
}

/** [texts, tokens, numbers], with zeros for padding. */
export function ofTokens(rows: readonly Row[], tokens: number): Tensor {
  const width = rows[0]?.values.dims.at(-1) ?? 0;
  const data = new Float32Array(rows.length * tokens * width);
  for (const [row, { values, positions }] of rows.entries()) {
    for (const [own, position] of positions.entries()) {
      data.set(values.data.subarray(own * width, (own + 1) * width), (row * tokens + position) * width);
    }
  }
  return new Tensor('float32', data, [rows.length, tokens, width]);
}

const kBase = {
  task: 'feature-extraction',
  hidden: true,
  outputOf: (rows: readonly Row[], tokens: number) => ({ last_hidden_state: ofTokens(rows, tokens) }),
} as const;
const kClassifier = { task: 'text-classification', outputOf: (rows: readonly Row[]) => ({ logits: ofTexts(rows) }) } as const;
const logitsOfTokens = (rows: readonly Row[], tokens: number) => ({ logits: ofTokens(rows, tokens) });
const kTagger = { task: 'token-classification', outputOf: logitsOfTokens } as const;
const kMasked = { task: 'fill-mask', outputOf: logitsOfTokens } as const;
const kReader = {
  task: 'question-answering',
  outputOf: (rows: readonly Row[], tokens: number) => {
    const both = ofTokens(rows, tokens);
    return { start_logits: both.slice(null, null, 0), end_logits: both.slice(null, null, 1) };
  },
} as const;

/** Models without a head: `last_hidden_state` [texts, tokens, hidden size]. */
export const AutoModel = /* @__PURE__ */ modelClass(kBase);
/** Classifiers and cross-encoders: `logits` [texts, labels]. */
export const AutoModelForSequenceClassification = /* @__PURE__ */ modelClass(kClassifier);
/** Taggers: `logits` [texts, tokens, labels]. */
export const AutoModelForTokenClassification = /* @__PURE__ */ modelClass(kTagger);
/** Models that fill masks: `logits` [texts, tokens, vocabulary]. */
export const AutoModelForMaskedLM = /* @__PURE__ */ modelClass(kMasked);
/** Readers: `start_logits` and `end_logits`, [texts, tokens]. */
export const AutoModelForQuestionAnswering = /* @__PURE__ */ modelClass(kReader);

/** The model of a pipeline, which reads token ids: `pipe.model(pipe.tokenizer(text))`. */
export function modelOfPipeline(pipe: Pipeline): PreTrainedModel {
  const kind = [kBase, kTagger, kMasked, kReader].find(({ task }) => task === pipe.task) ?? kClassifier;
  return modelOf<OutputTensors>(pipe, kind);
}

/** Reads config.json, and loads the tokenizer to find it. */
export const AutoConfig = {
  /** Returns the content of a model's config.json. */
  async from_pretrained(source: Source, options?: PreTrainedTokenizerOptions): Promise<Readonly<Record<string, unknown>>> {
    const tokenizer = await Tokenizer.from_pretrained(source, tokenizerOptions(options));
    tokenizer.dispose();
    if (tokenizer.config === undefined) throw new PeruseError('not_found', 'Did not find config.json.');
    return tokenizer.config;
  },
};

/** transformers.js's error for a file that does not exist: a PeruseError with the code 'not_found', for `instanceof`. */
export class ModelFileNotFoundError extends PeruseError {
  static override [Symbol.hasInstance](value: unknown): value is ModelFileNotFoundError {
    return value instanceof PeruseError && value.code === 'not_found';
  }
}
