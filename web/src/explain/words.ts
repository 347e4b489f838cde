// Splits texts into the words of an explanation.

export interface Place {
  start: number;
  end: number;
}

/** Words and punctuation marks in order, by the rules of Unicode, which also split Chinese and Japanese. */
export function wordsOf(text: string): Place[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return Array.from(segments, ({ segment, index }) => ({ start: index, end: index + segment.length })).filter(
    ({ start, end }) => text.slice(start, end).trim() !== '',
  );
}

/** Adds up the scores of tokens by word. A token belongs to the first word that ends after its start. */
export function scoresByWord(words: readonly Place[], tokens: readonly (Place & { score: number })[]): number[] {
  const scores = words.map(() => 0);
  for (const { start, score } of tokens) {
    const found = words.findIndex(({ end }) => end > start);
    scores[found < 0 ? words.length - 1 : found]! += score;
  }
  return scores;
}
