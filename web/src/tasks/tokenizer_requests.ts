// Checks calls of a tokenizer, and makes requests of them. Workers receive the requests.
import { PeruseError, show } from '../errors.js';
import { checkedOptions, checkString, checkStrings } from './call.js';
import type { PipelineTokenizer, TokenizerCall, TokenizerRequest } from './tokenizer_calls.js';

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
