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
import { Tokenizer, type TokenizerOptions } from '../tokenizer/face.js';
import type { TokenTensor } from './tokenizers.js';

/** What a tokenizer returns. */
export interface ModelInputs {
  input_ids: TokenTensor;
  /** 0 for padding, which is not read. Default: all 1. */
  attention_mask?: TokenTensor;
  token_type_ids?: TokenTensor;
}

/** A model: a function with members. */
export interface PreTrainedModel<O> {
  (inputs: ModelInputs): Promise<O>;
  /** The content of config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Frees the memory. */
  dispose(): Promise<void>;
}

/** The numbers of a text or of its tokens, and the positions of its tokens in the batch. */
interface Row {
  values: NumberArray;
  positions: number[];
}

interface Kind<O> {
  task: Task;
  /** Reads the last hidden state instead of logits. */
  hidden?: true;
  outputOf(rows: readonly Row[], tokens: number): O;
}

function modelClass<O>(kind: Kind<O>) {
  return {
    /** Loads a model with its head. */
    async from_pretrained(source: Source, options: PipelineOptions = {}): Promise<PreTrainedModel<O>> {
      return modelOf((await pipeline(kind.task, source, options)) as Pipeline, kind);
    },
  };
}

function modelOf<O>(pipe: Pipeline, { hidden, outputOf }: Kind<O>): PreTrainedModel<O> {
  const wanted = hidden ? { output_hidden_states: true, layers: [-1] } : { output_logits: true };
  const call = async (inputs: ModelInputs): Promise<O> => {
    const { dims, size } = inputs.input_ids;
    const [texts = 0, tokens = 0] = dims;
    const masks = [inputs.attention_mask, inputs.token_type_ids].filter((one) => one !== undefined);
    if (dims.length !== 2 || masks.some((mask) => mask.size !== size)) {
      throw new PeruseError('invalid_argument', 'input_ids must be a tensor [texts, tokens], and the other inputs as large.');
    }
    const rows = Array.from({ length: texts }, (_, row) => unpadded(inputs, row, tokens));
    const found = await pipe.inspect(rows, wanted);
    const valued = found.map(({ hidden_states, logits }, row) => ({
      values: (hidden ? hidden_states![0] : logits)!,
      positions: rows[row]!.positions,
    }));
    return outputOf(valued, tokens);
  };
  return Object.assign(call, { config: pipe.model.config, dispose: () => pipe.dispose() });
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
function ofTokens(rows: readonly Row[], tokens: number): Tensor {
  const width = rows[0]?.values.dims.at(-1) ?? 0;
  const data = new Float32Array(rows.length * tokens * width);
  for (const [row, { values, positions }] of rows.entries()) {
    for (const [own, position] of positions.entries()) {
      data.set(values.data.subarray(own * width, (own + 1) * width), (row * tokens + position) * width);
    }
  }
  return new Tensor('float32', data, [rows.length, tokens, width]);
}

const logitsOfTokens = (rows: readonly Row[], tokens: number) => ({ logits: ofTokens(rows, tokens) });

/** Models without a head: `last_hidden_state` [texts, tokens, hidden size]. */
export const AutoModel = modelClass({
  task: 'feature-extraction',
  hidden: true,
  outputOf: (rows, tokens) => ({ last_hidden_state: ofTokens(rows, tokens) }),
});

/** Classifiers and cross-encoders: `logits` [texts, labels]. */
export const AutoModelForSequenceClassification = modelClass({
  task: 'text-classification',
  outputOf: (rows) => ({ logits: ofTexts(rows) }),
});

/** Taggers: `logits` [texts, tokens, labels]. */
export const AutoModelForTokenClassification = modelClass({ task: 'token-classification', outputOf: logitsOfTokens });

/** Models that fill masks: `logits` [texts, tokens, vocabulary]. */
export const AutoModelForMaskedLM = modelClass({ task: 'fill-mask', outputOf: logitsOfTokens });

/** Readers: `start_logits` and `end_logits`, [texts, tokens]. */
export const AutoModelForQuestionAnswering = modelClass({
  task: 'question-answering',
  outputOf: (rows, tokens) => {
    const both = ofTokens(rows, tokens);
    return { start_logits: both.slice(null, null, 0), end_logits: both.slice(null, null, 1) };
  },
});

/** Reads config.json, and loads the tokenizer to find it. */
export const AutoConfig = {
  /** Returns the content of a model's config.json. */
  async from_pretrained(source: Source, options?: TokenizerOptions): Promise<Readonly<Record<string, unknown>>> {
    const tokenizer = await Tokenizer.from_pretrained(source, options);
    tokenizer.dispose();
    if (tokenizer.config === undefined) throw new PeruseError('not_found', 'Did not find config.json.');
    return tokenizer.config;
  },
};
