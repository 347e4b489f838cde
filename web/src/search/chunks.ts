// Splits texts into chunks of a limited number of tokens, at sentence boundaries.
import { PeruseError } from '../errors.js';
import type { TextRange } from '../redact/text_folding.js';
import type { PipelineTokenizer } from '../tasks/tokenizer_calls.js';

export interface ChunkLimits {
  tokens: number;
  overlap: number;
}

interface Piece extends TextRange {
  tokens: number;
}

/**
 * Chunks of at most `limits.tokens` tokens that cover the text. Each but the first begins with the last whole sentences of the previous
 * chunk, up to `limits.overlap` tokens. A sentence that is too long is split between words, and a word that is too long between tokens.
 */
export async function chunksOf(text: string, tokenizer: PipelineTokenizer, limits: ChunkLimits): Promise<TextRange[]> {
  const { offsets, word_ids } = await tokenizer.encode(text, { add_special_tokens: false });
  if (offsets === undefined) {
    throw new PeruseError(
      'invalid_argument',
      'The tokenizer of peruse/transformers returns no offsets, by which texts are split: load the model with the pipeline() of peruse.',
    );
  }
  if (offsets.length <= limits.tokens) return [{ start: 0, end: text.length }];
  const pieces = sentencesOf(text).flatMap((sentence) => piecesOf(sentence, offsets, word_ids, limits.tokens));
  return packed(pieces, limits);
}

function sentencesOf(text: string): TextRange[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text);
  return Array.from(segments, ({ index, segment }) => ({ start: index, end: index + segment.length }));
}

function piecesOf(sentence: TextRange, offsets: readonly [number, number][], words: readonly (number | null)[], most: number): Piece[] {
  let first = lowerBound(offsets, sentence.start);
  const end = lowerBound(offsets, sentence.end);
  const pieces: Piece[] = [];
  let start = sentence.start;
  while (end - first > most) {
    let next = first + most;
    while (next > first && words[next] !== null && words[next] === words[next - 1]) --next;
    if (next === first) next = first + most;
    pieces.push({ start, end: offsets[next]![0], tokens: next - first });
    start = offsets[next]![0];
    first = next;
  }
  pieces.push({ start, end: sentence.end, tokens: end - first });
  return pieces;
}

function lowerBound(offsets: readonly [number, number][], index: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]![0] < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

function packed(pieces: readonly Piece[], { tokens: most, overlap }: ChunkLimits): TextRange[] {
  const chunks: TextRange[] = [];
  for (let first = 0; first < pieces.length; ) {
    let next = first;
    for (let used = 0; next < pieces.length && (next === first || used + pieces[next]!.tokens <= most); ++next)
      used += pieces[next]!.tokens;
    chunks.push({ start: pieces[first]!.start, end: pieces[next - 1]!.end });
    if (next === pieces.length) break;
    // The repeated pieces must leave room for the next one, so that each chunk ends later than the previous one.
    let repeated = next;
    let room = Math.min(overlap, most - pieces[next]!.tokens);
    while (repeated - 1 > first && pieces[repeated - 1]!.tokens <= room) room -= pieces[--repeated]!.tokens;
    first = repeated;
  }
  return chunks;
}
