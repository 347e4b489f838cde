// The calls of a tokenizer, and what the engine's replies mean. `peruse/tokenizer` runs them directly; a pipeline sends them to its engine.
import { PeruseError, show } from '../errors.js';
import { checkedOptions, checkString, checkStrings } from './call.js';

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

/** Makes a request of a call's arguments. Throws 'invalid_argument'. */
export function tokenizerRequest(call: TokenizerCall, [input, options = {}]: readonly unknown[]): TokenizerRequest {
  return { call, request: kRequests[call](input, options as object) };
}

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

/** Options of count(). */
export interface CountOptions {
  /** The second text of a pair. */
  text_pair?: string;
  /** Add the model's special tokens, for example [CLS] and [SEP]. Default true. */
  add_special_tokens?: boolean;
}

/** Options of encode(). */
export interface EncodeOptions extends CountOptions {
  /** Cut to `max_length`: the longer text of a pair first (true, 'longest_first'), or only one of the two. Default: cut nothing. */
  truncation?: boolean | 'longest_first' | 'only_first' | 'only_second';
  /** Maximum number of tokens, with special tokens. Default: `tokenizer.max_length`, or no limit if that is unknown. */
  max_length?: number;
}

/** Options of windows(). */
export interface WindowOptions extends CountOptions {
  /** Which text of a pair to cut. Default 'longest_first'. */
  truncation?: 'longest_first' | 'only_first' | 'only_second';
  /** Number of tokens in a window, with special tokens. Default: `tokenizer.max_length`, or no limit if that is unknown. */
  max_length?: number;
  /** Number of tokens that neighbouring windows share. Default 0. */
  stride?: number;
}

/** A text as tokens. Each list has an item for each token. */
export interface Encoding {
  ids: number[];
  /** 0 for the first text, 1 for the second, if the tokenizer distinguishes them. */
  type_ids: number[];
  /** UTF-16 indices into the text: `text.slice(start, end)`. 0 and 0 for special tokens. */
  offsets: [start: number, end: number][];
  /** Number of the word in its text; null for special tokens. */
  word_ids: (number | null)[];
  /** 0 for the text, 1 for `text_pair`, null for special tokens. */
  sequence_ids: (0 | 1 | null)[];
  /** 1 for special tokens. */
  special_tokens_mask: (0 | 1)[];
}

/** Options of decode(). */
export interface DecodeOptions {
  /** Omit special tokens such as [CLS] and [SEP]. Default false. */
  skip_special_tokens?: boolean;
}

export interface TokenizerCalls {
  encode(text: string, options?: EncodeOptions): Encoding;
  windows(text: string, options?: WindowOptions): Encoding[];
  count(text: string, options?: CountOptions): number;
  decode(ids: readonly number[], options?: DecodeOptions): string;
  convert_ids_to_tokens(ids: readonly number[]): string[];
  convert_tokens_to_ids(tokens: readonly string[]): (number | undefined)[];
}

export type TokenizerCall = keyof TokenizerCalls;

/** A pipeline's tokenizer: the calls of `Tokenizer` in peruse/tokenizer, as promises. */
export type PipelineTokenizer = {
  readonly [C in TokenizerCall]: (...given: Parameters<TokenizerCalls[C]>) => Promise<ReturnType<TokenizerCalls[C]>>;
};

export interface TokenizerRequest {
  call: TokenizerCall;
  request: object;
}

export interface TokenizerEngine {
  /** Returns one array per window: kCells integers for each token. */
  encode(request: object): Int32Array[];
  count(request: object): number;
  decode(request: object): string;
  idsToTokens(ids: readonly number[]): string[];
  tokensToIds(tokens: readonly string[]): (number | null)[];
}

/** Integers for each token: id, type id, word, sequence, special, start, end. */
export const kCells = 7;

const kCalls: Record<TokenizerCall, (engine: TokenizerEngine, request: object) => unknown> = {
  encode: (engine, request) => encodingOf(engine.encode(request)[0]!),
  windows: (engine, request) => engine.encode(request).map(encodingOf),
  count: (engine, request) => engine.count(request),
  decode: (engine, request) => engine.decode(request),
  convert_ids_to_tokens: (engine, request) => engine.idsToTokens((request as { ids: number[] }).ids),
  convert_tokens_to_ids: (engine, request) => engine.tokensToIds((request as { tokens: string[] }).tokens).map((id) => id ?? undefined),
};

export function runTokenizerCall(engine: TokenizerEngine, { call, request }: TokenizerRequest): unknown {
  return kCalls[call](engine, request);
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
