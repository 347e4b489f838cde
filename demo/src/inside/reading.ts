// One inspection, limited to a text that a page can display and a browser's memory can hold.
import { type AttentionTerms, type InspectCall, type Inspection, PeruseError, type TextPair } from '../../peruse/peruse.js';

export type Input = string | TextPair;

export interface Reading {
  readonly inspection: Inspection;
  /** The input, or a part of it around the focus if it is too long. */
  readonly input: Input;
  readonly isCut: boolean;
  /** Computes DeBERTa's three terms of a layer's scores; undefined for other models. */
  readonly terms: ((layer: number) => Promise<AttentionTerms | undefined>) | undefined;
}

/** Attention maps grow with the square of this: a base model has 15 MB of them for 160 tokens, and 150 MB for 512. */
const kMostTokens = 160;
const kMostLetters = 3000; // limit before tokens are counted

/** `focus` is the position (in a pair: in the second text) around which a long text is cut. */
export async function readInside(inspect: InspectCall, whole: Input, focus = 0): Promise<Reading> {
  let input = cutLetters(whole, focus);
  const { tokens } = await inspect(input, { truncation: true });
  input = cutTokens(input, tokens, focus - startOf(whole, input));
  const isCut = longText(input).length < longText(whole).length;
  return { inspection: await inspectAll(inspect, input), input, isCut, terms: await termsOf(inspect, input) };
}

/** Returns a function that computes one layer at a time, because the terms of all layers need three times the memory of the maps. */
async function termsOf(inspect: InspectCall, input: Input): Promise<Reading['terms']> {
  const known = new Map<number, Promise<AttentionTerms | undefined>>();
  const terms = (layer: number) => {
    const asked =
      known.get(layer) ??
      inspect(input, { output_attention_terms: true, layers: [layer], truncation: true }).then(
        ({ attention_terms }) => attention_terms?.[0],
      );
    known.set(layer, asked);
    return asked;
  };
  try {
    await terms(0);
    return terms;
  } catch (error) {
    if (error instanceof PeruseError && error.code === 'unsupported') return undefined;
    throw error;
  }
}

/** Asks for everything that the model can return: only ConvBERT has span kernels. */
async function inspectAll(inspect: InspectCall, input: Input): Promise<Inspection> {
  const options = { output_attentions: true, output_hidden_states: true, truncation: true };
  try {
    return await inspect(input, { ...options, output_span_kernels: true });
  } catch (error) {
    if (!(error instanceof PeruseError && error.code === 'unsupported')) throw error;
    return inspect(input, options);
  }
}

function longText(input: Input): string {
  return typeof input === 'string' ? input : input.text_pair;
}

function withLongText(input: Input, text: string): Input {
  return typeof input === 'string' ? text : { ...input, text_pair: text };
}

function startOf(whole: Input, part: Input): number {
  return Math.max(0, longText(whole).indexOf(longText(part)));
}

function cutLetters(input: Input, focus: number): Input {
  const text = longText(input);
  if (text.length <= kMostLetters) return input;
  const start = Math.max(0, Math.min(focus - kMostLetters / 2, text.length - kMostLetters));
  return withLongText(input, text.slice(start, start + kMostLetters));
}

function cutTokens(input: Input, tokens: Inspection['tokens'], focus: number): Input {
  if (tokens.length <= kMostTokens) return input;
  const sequence = typeof input === 'string' ? 0 : 1;
  const own = tokens.filter((token) => token.sequence === sequence);
  const room = Math.max(8, kMostTokens - (tokens.length - own.length));
  const middle = own.findIndex(({ end }) => end > focus);
  const first = Math.max(0, Math.min((middle < 0 ? own.length : middle) - (room >> 1), own.length - room));
  return withLongText(input, longText(input).slice(own[first]?.start, own[Math.min(first + room, own.length) - 1]?.end));
}
