// The token and head that a visitor chose, and functions for texts and numbers that all views use.
import type { Inspection, TextPair } from '../../peruse/peruse.js';
import { percent } from '../format.js';

export interface Selection {
  layer: number;
  head: number;
  /** The token that attends (a row of the map). */
  token: number;
  /** The token under the pointer, to which the first one attends. */
  other: number | undefined;
}

export interface View {
  readonly element: HTMLElement;
  update(selection: Selection): void;
}

export type Change = (changed: Partial<Selection>) => void;

export function tokenText({ tokens }: Inspection, input: string | TextPair, index: number): string {
  const token = tokens[index];
  if (!token) return '';
  if (token.special) return token.token;
  const text = typeof input === 'string' ? input : token.sequence === 1 ? input.text_pair : input.text;
  return text.slice(token.start, token.end) || token.token;
}

/** The weight below which a token is not named: it would be shown as 0.0 %. */
const kLeastNamed = 0.0005;

/** Short words that begin many sentences, and about whose neighbours there is little to see. */
const kSmallWords =
  /^(hello|hi|dear|the|an?|my|your|our|his|her|its?|this|that|i|you|we|they|he|she|is|are|am|was|be|and|or|of|in|on|at|to|for|with|not|who|what|when|where|why|how|do|does|did|please|two)$/i;

/** The token to begin with: a name inside a sentence, otherwise the first word of some length. */
export function firstNameOrVerb(inspection: Inspection, input: string | TextPair): number {
  const words = inspection.tokens.map((token, index) => ({ text: tokenText(inspection, input, index), index, special: token.special }));
  const telling = words.filter(({ text, special }) => !special && /^\p{L}{3,}$/u.test(text) && !kSmallWords.test(text));
  const name = telling.find(
    ({ text, index }) => /^\p{Lu}/u.test(text) && /^[\p{L},]/u.test(words[index - 1]?.text ?? '') && !words[index - 1]?.special,
  );
  return (name ?? telling[0] ?? words.find(({ special }) => !special))?.index ?? 0;
}

export function attentionFrom({ tokens, attentions }: Inspection, { layer, head, token }: Selection): Float32Array {
  const start = (head * tokens.length + token) * tokens.length;
  return attentions?.[layer]?.data.subarray(start, start + tokens.length) ?? new Float32Array(tokens.length);
}

export function headMap({ tokens, attentions }: Inspection, layer: number, head: number): Float32Array {
  const size = tokens.length * tokens.length;
  return attentions?.[layer]?.data.subarray(head * size, (head + 1) * size) ?? new Float32Array(size);
}

export function describeToken(inspection: Inspection, input: string | TextPair, selection: Selection): string {
  const word = (index: number) => `\u201c${tokenText(inspection, input, index)}\u201d`;
  const weights = attentionFrom(inspection, selection);
  const place = `Layer ${selection.layer + 1}, head ${selection.head + 1}: from ${word(selection.token)} `;
  if (selection.other !== undefined) return `${place}to ${word(selection.other)} ${percent(weights[selection.other] ?? 0)}.`;
  const most = [...weights.keys()]
    .sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0))
    .slice(0, 3)
    .filter((index, rank) => rank === 0 || (weights[index] ?? 0) >= kLeastNamed);
  return `${place}mostly to ${most.map((index) => `${word(index)} ${percent(weights[index] ?? 0)}`).join(', ')}.`;
}
