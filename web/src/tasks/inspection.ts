// inspect(): what a model computes on its way to an answer: attention maps, span kernels and hidden states.
import { PeruseError } from '../errors.js';
import { type CallOptions, type EngineInput, engineOptions, nameOf, type OptionNames } from './call.js';
import type { NumberArray } from './results.js';
import type { TextPair } from './text_classification.js';

/** What to give: the tokens only, unless more is asked for. */
export interface InspectOptions extends CallOptions {
  /** Attention probabilities of every layer and head, and their diagonal concentration. */
  output_attentions?: boolean;
  /** DeBERTa's attention scores before the softmax, in their three terms. 'unsupported' for other models. */
  output_attention_terms?: boolean;
  /** Only of these layers, counted from 0, in this order; of hidden states what these layers read. Default: all. */
  layers?: readonly number[];
  /** The kernels of ConvBERT's span-based dynamic convolution (and of DynamicConv's). 'unsupported' for other models. */
  output_span_kernels?: boolean;
  /** The embedding output, and the output of every layer. */
  output_hidden_states?: boolean;
  /** Cut a text that exceeds the model's limit. By default such a text is an error, 'text_too_long'. */
  truncation?: boolean;
}

/** A token as the model sees it. */
export interface InspectedToken {
  /** Its string in the vocabulary, for example '##ing' or '\u2581the'. */
  token: string;
  id: number;
  /** UTF-16 indices of the text it came from: `text.slice(start, end)`. 0 and 0 for special tokens. */
  start: number;
  end: number;
  /** Added by the tokenizer: [CLS], [SEP] and their kin. */
  special: boolean;
  /** 0 for `text`, 1 for `text_pair`, null for special tokens. */
  sequence: 0 | 1 | null;
}

/**
 * What DeBERTa's attention scores of a layer are the sum of (He et al., 2020, equation 4): each [heads, tokens, tokens], the score of head h
 * for query i and key j at `data[(h * tokens + i) * tokens + j]`. They are logits, already scaled by 1 / sqrt(head size * number of terms):
 * the softmax of a row of the sum is the row of `attentions`, and a difference of 1 makes one key weigh e times as much as another.
 */
export interface AttentionTerms {
  /** What the two words say to each other. */
  content_to_content: NumberArray;
  /** Score of the query's content with the key's relative position. Absent if the model lacks this term (`pos_att_type`). */
  content_to_position?: NumberArray;
  /** Score of the query's relative position with the key's content. Absent if the model lacks this term. */
  position_to_content?: NumberArray;
}

/** What inspect() gives. The arrays are the caller's own. */
export interface Inspection {
  tokens: InspectedToken[];
  /**
   * With `output_attentions`, by layer, [heads, tokens, tokens]: the weight that head h gives, at token i (the query), to token j (the
   * key) is `data[(h * tokens + i) * tokens + j]`; a row sums to 1. ConvBERT: its attention heads. DeBERTa: with the position terms.
   */
  attentions?: NumberArray[];
  /**
   * With `output_attentions`, `[layer][head]`: the ConvBERT paper's measure of how local a map is: the weight within four
   * tokens of the diagonal, over the rest. Infinity for texts of at most five tokens.
   */
  diagonal_concentration?: number[][];
  /**
   * With `output_span_kernels`, by layer, [tokens, heads, kernel_size]: tap k of head h at token t weighs token t + k -
   * (kernel_size - 1) / 2; the taps of a head at a token sum to 1.
   */
  span_kernels?: NumberArray[];
  /** With `output_attention_terms`, by layer. */
  attention_terms?: AttentionTerms[];
  /** With `output_hidden_states`, [tokens, hidden_size]: the embedding output, then the output of every layer. */
  hidden_states?: NumberArray[];
}

/** `inspect(text, options)`, `inspect({ text, text_pair }, options)`. */
export type InspectCall = (input: string | TextPair, options?: InspectOptions) => Promise<Inspection>;

const kOptions: OptionNames<InspectOptions> = {
  output_attentions: true,
  output_span_kernels: true,
  output_hidden_states: true,
  output_attention_terms: true,
  layers: true,
  truncation: true,
};

export interface InspectRequest {
  input: EngineInput;
  options: Record<string, unknown>;
}

/** Makes the call, given what reaches the engine. */
export function inspectCall(inspect: (request: InspectRequest, signal?: AbortSignal) => Promise<Inspection>): InspectCall {
  return async (input, options = {}) =>
    inspect({ input: checkInput(input), options: engineOptions('inspect', kOptions, options) }, options.signal);
}

function checkInput(input: unknown): EngineInput {
  if (typeof input === 'string') return { text: input };
  const { text, text_pair } = (input ?? {}) as Partial<TextPair>;
  if (typeof text === 'string' && typeof text_pair === 'string') return { text, text_pair };
  throw new PeruseError('invalid_argument', `The input is ${nameOf(input)}; inspect takes a string or { text, text_pair }, one at a time.`);
}

/** Restores infinity, which the engine writes as null because JSON lacks it. */
export function withInfinities(found: Inspection): Inspection {
  const concentrations: (number | null)[][] | undefined = found.diagonal_concentration;
  if (concentrations === undefined) return found;
  return { ...found, diagonal_concentration: concentrations.map((layer) => layer.map((value) => value ?? Infinity)) };
}
