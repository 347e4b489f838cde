// The sentences of a document, ranked by the scores of the answers in them.
import type { Answer } from '../peruse/peruse.js';
import type { Span } from './marked_text.js';

const kShown = 3;
const kLeast = 0.1; // Share of the best passage's score below which a passage is not shown.
const kFewestWords = 3; // Shorter sentences are usually headings.

export interface Passage extends Span {
  readonly text: string;
}

export interface Found {
  readonly passage: Passage;
  readonly span: Span;
}

export function passagesOf(document_: string): Passage[] {
  return [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(document_)]
    .map(({ segment, index }) => {
      const start = index + segment.length - segment.trimStart().length;
      return { text: segment.trim(), start, end: start + segment.trim().length };
    })
    .filter(({ text }) => text.split(/\s+/).length >= kFewestWords);
}

/** Returns the passages that contain answers, best first. `answers` are in descending order. */
export function rank(passages: readonly Passage[], answers: readonly Answer[]): Found[] {
  const scored = passages
    .flatMap((passage) => {
      const within = answers.filter(({ start }) => start >= passage.start && start < passage.end);
      const [best] = within;
      if (!best) return [];
      const span = { start: best.start - passage.start, end: Math.min(best.end, passage.end) - passage.start };
      return [{ passage, span, score: within.reduce((sum, { score }) => sum + score, 0) }];
    })
    .sort((a, b) => b.score - a.score);
  return scored.filter(({ score }) => score > kLeast * (scored[0]?.score ?? 0)).slice(0, kShown);
}
