import { PeruseError } from '../errors.js';
import { type Given, option } from '../options.js';
import { type CallOptions, type EngineInput, engineOptions, nameOf } from './call.js';
import type { NumberArray } from './results.js';
import type { TextPair } from './text_classification.js';

const kOptions = {
  /** Return attention probabilities of every layer and head, and their diagonal concentration. */
  output_attentions: option({ kind: 'boolean' }),
  /** Return DeBERTa's attention scores before the softmax, split into their three terms. 'unsupported' for other models. */
  output_attention_terms: option({ kind: 'boolean' }),
  /** Only these layers, counted from 0 (-1 is the last), in this order. For hidden states: the inputs of these layers. Default: all. */
  layers: option<readonly number[]>({ kind: 'other' }),
  /** Return the convolution kernels of ConvBERT and DynamicConv. 'unsupported' for other models. */
  output_span_kernels: option({ kind: 'boolean' }),
  /** Return the head's output before any activation. GLiNER and GLiClass need `labels`. 'unsupported' for feature-extraction and GLiNER2. */
  output_logits: option({ kind: 'boolean' }),
  /** GLiNER and GLiClass: labels that the model reads with the text. 'unsupported' for other models. */
  labels: option<readonly string[]>({ kind: 'other' }),
  /** Return the embedding output and the output of every layer. */
  output_hidden_states: option({ kind: 'boolean' }),
  /** Cut a text that exceeds the model's limit. By default such a text throws 'text_too_long'. */
  truncation: option({ kind: 'boolean' }),
};

/** What inspect() returns in addition to the tokens. */
export interface InspectOptions extends CallOptions, Given<typeof kOptions> {}

/** A token as the model sees it. */
export interface InspectedToken {
  /** The token in the vocabulary, for example '##ing' or '\u2581the'. */
  token: string;
  id: number;
  /** UTF-16 indices into the text: `text.slice(start, end)`. 0 and 0 for special tokens. With `labels`, their tokens are special. */
  start: number;
  end: number;
  /** Whether the tokenizer added it, for example [CLS] or [SEP]. */
  special: boolean;
  /** 0 for `text`, 1 for `text_pair`, null for special tokens. */
  sequence: 0 | 1 | null;
}

/**
 * The terms whose sum is a layer's attention scores in DeBERTa (He et al., 2020, equation 4). Each is [heads, tokens, tokens]: the score of
 * head h for query i and key j is `data[(h * tokens + i) * tokens + j]`. Scores are scaled logits: the softmax of a row of the sum is the
 * row of `attentions`.
 */
export interface AttentionTerms {
  /** Score of the query's content with the key's content. */
  content_to_content: NumberArray;
  /** Score of the query's content with the key's relative position. Absent if `pos_att_type` lacks it. */
  content_to_position?: NumberArray;
  /** Score of the query's relative position with the key's content. Absent if `pos_att_type` lacks it. */
  position_to_content?: NumberArray;
}

/** The result of inspect(). */
export interface Inspection {
  tokens: InspectedToken[];
  /**
   * With `output_attentions`: for each layer [heads, tokens, tokens]. The weight of head h from token i (query) to token j (key) is
   * `data[(h * tokens + i) * tokens + j]`; each row sums to 1. For ConvBERT, only its attention heads.
   */
  attentions?: NumberArray[];
  /**
   * With `output_attentions`, `[layer][head]`: how local a map is, as in the ConvBERT paper: the weight within four tokens of the diagonal,
   * divided by the remaining weight. Infinity for texts of at most five tokens.
   */
  diagonal_concentration?: number[][];
  /**
   * With `output_span_kernels`: for each layer [tokens, heads, kernel_size]. Tap k of head h at token t is the weight of token
   * t + k - (kernel_size - 1) / 2. The taps of a head at a token sum to 1.
   */
  span_kernels?: NumberArray[];
  /** With `output_attention_terms`: one for each layer. */
  attention_terms?: AttentionTerms[];
  /** With `output_hidden_states`: [tokens, hidden_size] for the embedding output and each layer's output. */
  hidden_states?: NumberArray[];
  /**
   * With `output_logits`: [labels] if the head reads whole texts (multiple choice: of the one pair), [tokens, labels] if it reads tokens;
   * the columns are start and end for question answering, the vocabulary for fill-mask. GLiNER: [spans, labels], or [words, labels, 3] of a
   * model that scores words: start, end and inside.
   */
  logits?: NumberArray;
  /** With the logits of GLiNER: the span or word of each row. UTF-16 indices. */
  spans?: { start: number; end: number }[];
}

/** Token ids in place of a text. 'unsupported' for models that read labels. */
export interface TokenIds {
  /** Special tokens included. */
  ids: readonly number[];
  /** 0 or 1 for each token. Default: all 0. */
  type_ids?: readonly number[];
}

/** What inspect() reads: a text, a pair of texts, or token ids. */
export type InspectInput = string | TextPair | TokenIds;

/** The call of `inspect`. */
export interface InspectCall {
  /** Returns tokens, attention maps and hidden states of one text, `inspect(text, options)`, pair or list of token ids. */
  (input: InspectInput, options?: InspectOptions): Promise<Inspection>;
  /** Reads several in batches, without padding. Returns a result for each. With `labels` only one text is read at a time. */
  (inputs: readonly InspectInput[], options?: InspectOptions): Promise<Inspection[]>;
}

export interface InspectRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

export function inspectCall(inspect: (request: InspectRequest, call: CallOptions) => Promise<Inspection[]>): InspectCall {
  const call = async (given: InspectInput | readonly InspectInput[], options: InspectOptions = {}) => {
    const inputs = (Array.isArray(given) ? given : [given]).map(checkInput);
    const found = await inspect({ inputs, options: engineOptions('inspect', kOptions, options) }, options);
    return Array.isArray(given) ? found : found[0]!;
  };
  return call as InspectCall;
}

function checkInput(input: unknown): EngineInput {
  if (typeof input === 'string') return { text: input };
  const { text, text_pair, ids, type_ids } = (input ?? {}) as Partial<TextPair & TokenIds>;
  if (Array.isArray(ids)) return { ids, ...(type_ids && { type_ids }) };
  if (typeof text === 'string' && typeof text_pair === 'string') return { text, text_pair };
  throw new PeruseError(
    'invalid_argument',
    `The input is ${nameOf(input)}; inspect takes a string, { text, text_pair } or { ids, type_ids }, or a list of these.`,
  );
}
