// The calls of a tokenizer: how their arguments become requests of the engine, and its replies results. `peruse/tokenizer` makes them at
// once; a pipeline sends the request to where its engine is.
import { PeruseError, show } from '../errors.js';
import { checkedOptions, checkString, checkStrings } from './call.js';

/** How to count the tokens of a text. */
export interface CountOptions {
  /** The second text of a pair. */
  text_pair?: string;
  /** Put [CLS], [SEP] and their kin where the model expects them. Default true. */
  add_special_tokens?: boolean;
}

/** How to encode a text. */
export interface EncodeOptions extends CountOptions {
  /**
   * Cut what is longer than `max_length`: from the longer text of a pair first (true, 'longest_first'), or from one of the two.
   * By default nothing is cut.
   */
  truncation?: boolean | 'longest_first' | 'only_first' | 'only_second';
  /** Tokens to cut to, special tokens included. Default: `tokenizer.max_length`; where that says nothing, nothing is cut. */
  max_length?: number;
}

/** How to cut a text into windows. */
export interface WindowOptions extends CountOptions {
  /** Which text of a pair to cut. Default 'longest_first'. */
  truncation?: 'longest_first' | 'only_first' | 'only_second';
  /** Tokens of a window, special tokens included. Default: `tokenizer.max_length`; where that says nothing, there is one window. */
  max_length?: number;
  /** Tokens that a window shares with the one before. Default 0. */
  stride?: number;
}

/** A text as tokens. All lists have the same length, an item for each token. */
export interface Encoding {
  ids: number[];
  /** 0 for the first text and 1 for the second, where the tokenizer tells them apart. */
  type_ids: number[];
  /** UTF-16 indices of the text that the token came from: `text.slice(start, end)`. 0 and 0 for special tokens. */
  offsets: [start: number, end: number][];
  /** The number of the word within its text; null for special tokens. */
  word_ids: (number | null)[];
  /** 0 for the text, 1 for `text_pair`, null for special tokens. */
  sequence_ids: (0 | 1 | null)[];
  /** 1: added by the tokenizer. */
  special_tokens_mask: (0 | 1)[];
}

/** How to turn ids into a text. */
export interface DecodeOptions {
  /** Omit special tokens such as [CLS] and [SEP]. Default false. */
  skip_special_tokens?: boolean;
}

/** The calls, by name. */
export interface TokenizerCalls {
  encode(text: string, options?: EncodeOptions): Encoding;
  windows(text: string, options?: WindowOptions): Encoding[];
  count(text: string, options?: CountOptions): number;
  decode(ids: readonly number[], options?: DecodeOptions): string;
  convert_ids_to_tokens(ids: readonly number[]): string[];
  convert_tokens_to_ids(tokens: readonly string[]): (number | undefined)[];
}

export type TokenizerCall = keyof TokenizerCalls;

/** A pipeline's tokenizer: the calls of `Tokenizer` of peruse/tokenizer, awaited, because the pipeline may work in a worker. */
export type PipelineTokenizer = {
  readonly [C in TokenizerCall]: (...given: Parameters<TokenizerCalls[C]>) => Promise<ReturnType<TokenizerCalls[C]>>;
};

/** A call with checked arguments: plain data. */
export interface TokenizerRequest {
  call: TokenizerCall;
  request: object;
}

/** The engine's side (engine/engine_tokenizer.ts). */
export interface TokenizerEngine {
  /** The cells of every window, token by token. */
  encode(request: object): Int32Array[];
  count(request: object): number;
  decode(request: object): string;
  idsToTokens(ids: readonly number[]): string[];
  tokensToIds(tokens: readonly string[]): (number | null)[];
}

/** Numbers for each token: id, type id, word, sequence, special, start, end (TokenizerSession::kCells). */
export const kCells = 7;

const kCount = { text_pair: true, add_special_tokens: true } as const;
const kEncode = { ...kCount, truncation: true, max_length: true } as const;
const kWindow = { ...kEncode, stride: true } as const;

const kRequests: Record<TokenizerCall, (input: unknown, options: object) => object> = {
  encode: (text, options) => ({ ...checkedOptions('encode', kEncode, options), text: checkString(text, 'The text') }),
  windows: (text, options) => ({
    truncation: 'longest_first',
    ...checkedOptions('windows', kWindow, options),
    text: checkString(text, 'The text'),
  }),
  count: (text, options) => ({ ...checkedOptions('count', kCount, options), text: checkString(text, 'The text') }),
  decode: (ids, options) => ({ ...checkedOptions('decode', { skip_special_tokens: true }, options), ids: checkIds(ids) }),
  convert_ids_to_tokens: (ids) => ({ ids: checkIds(ids) }),
  convert_tokens_to_ids: (tokens) => ({ tokens: checkStrings(tokens, 'tokens') }),
};

const kCalls: Record<TokenizerCall, (engine: TokenizerEngine, request: object) => unknown> = {
  encode: (engine, request) => encodingOf(engine.encode(request)[0]!),
  windows: (engine, request) => engine.encode(request).map(encodingOf),
  count: (engine, request) => engine.count(request),
  decode: (engine, request) => engine.decode(request),
  convert_ids_to_tokens: (engine, request) => engine.idsToTokens((request as { ids: number[] }).ids),
  convert_tokens_to_ids: (engine, request) => engine.tokensToIds((request as { tokens: string[] }).tokens).map((id) => id ?? undefined),
};

/** The request of a call. Throws 'invalid_argument' for arguments that make no sense. */
export function tokenizerRequest(call: TokenizerCall, [input, options = {}]: readonly unknown[]): TokenizerRequest {
  return { call, request: kRequests[call](input, options as object) };
}

/** The result of a request. */
export function runTokenizerCall(engine: TokenizerEngine, { call, request }: TokenizerRequest): unknown {
  return kCalls[call](engine, request);
}

/** The calls of a pipeline: `ask` sends a request to the engine. */
export function pipelineTokenizer(ask: (request: TokenizerRequest) => Promise<unknown>): PipelineTokenizer {
  const names = Object.keys(kRequests) as TokenizerCall[];
  const calls = names.map((name) => [name, async (...given: unknown[]) => ask(tokenizerRequest(name, given))]);
  return Object.fromEntries(calls) as PipelineTokenizer;
}

function checkIds(ids: unknown): number[] {
  if (typeof ids !== 'object' || ids === null)
    throw new PeruseError('invalid_argument', `ids must be a list of token ids, not ${show(ids)}.`);
  const list = Array.from(ids as ArrayLike<unknown>);
  const wrong = list.find((id) => !Number.isSafeInteger(id) || (id as number) < 0);
  if (wrong === undefined) return list as number[];
  throw new PeruseError('invalid_argument', `ids must be non-negative integers; got ${show(wrong)}.`);
}

function encodingOf(cells: Int32Array): Encoding {
  const encoding: Encoding = { ids: [], type_ids: [], offsets: [], word_ids: [], sequence_ids: [], special_tokens_mask: [] };
  const orNull = (value: number) => (value < 0 ? null : value);
  for (let at = 0; at < cells.length; at += kCells) {
    encoding.ids.push(cells[at]!);
    encoding.type_ids.push(cells[at + 1]!);
    encoding.word_ids.push(orNull(cells[at + 2]!));
    encoding.sequence_ids.push(orNull(cells[at + 3]!) as 0 | 1 | null);
    encoding.special_tokens_mask.push(cells[at + 4]! as 0 | 1);
    encoding.offsets.push([cells[at + 5]!, cells[at + 6]!]);
  }
  return encoding;
}
