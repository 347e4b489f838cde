// What is being looked at, and the numbers and words that all views of it share.
import type { Inspection, TextPair } from '../../peruse/peruse.js';
import { percent } from '../format.js';

export interface Look {
  layer: number;
  head: number;
  /** The token that looks: the row of the map. */
  token: number;
  /** The token that is looked at, where the visitor points at one. */
  other: number | undefined;
}

export interface View {
  readonly element: HTMLElement;
  update(look: Look): void;
}

export type Change = (changed: Partial<Look>) => void;

/** What a token stands for in the text; a special token's own name. */
export function tokenText({ tokens }: Inspection, input: string | TextPair, index: number): string {
  const token = tokens[index];
  if (!token) return '';
  if (token.special) return token.token;
  const text = typeof input === 'string' ? input : token.sequence === 1 ? input.text_pair : input.text;
  return text.slice(token.start, token.end) || token.token;
}

/** How much every token is looked at from one token: a row of a head's map. */
export function attentionFrom({ tokens, attentions }: Inspection, { layer, head, token }: Look): Float32Array {
  const start = (head * tokens.length + token) * tokens.length;
  return attentions?.[layer]?.data.subarray(start, start + tokens.length) ?? new Float32Array(tokens.length);
}

/** One head's map, [tokens, tokens]. */
export function headMap({ tokens, attentions }: Inspection, layer: number, head: number): Float32Array {
  const size = tokens.length * tokens.length;
  return attentions?.[layer]?.data.subarray(head * size, (head + 1) * size) ?? new Float32Array(size);
}

/** Where the chosen head looks from the chosen token, in words. */
export function describeToken(inspection: Inspection, input: string | TextPair, look: Look): string {
  const word = (index: number) => `\u201c${tokenText(inspection, input, index)}\u201d`;
  const weights = attentionFrom(inspection, look);
  const place = `Layer ${look.layer + 1}, head ${look.head + 1}: from ${word(look.token)} `;
  if (look.other !== undefined) return `${place}to ${word(look.other)} ${percent(weights[look.other] ?? 0)}.`;
  const most = [...weights.keys()].sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0)).slice(0, 3);
  return `${place}mostly to ${most.map((index) => `${word(index)} ${percent(weights[index] ?? 0)}`).join(', ')}.`;
}
