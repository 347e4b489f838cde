import type { Answer } from '../peruse/peruse.js';
import type { Span } from './marked_text.js';

const kShown = 3;
const kLeast = 0.1; // Share of the best answer's score below which an answer is not shown.

export interface Passage extends Span {
  readonly text: string;
  readonly span: Span;
}

export function passagesOf(document_: string, answers: readonly Answer[]): Passage[] {
  const sentences = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(document_);
  const passages = new Map<number, Passage>();
  for (const answer of answers) {
    if (answer.score <= kLeast * (answers[0]?.score ?? 0)) continue;
    const sentence = sentences.containing(answer.start);
    if (!sentence || passages.has(sentence.index)) continue;
    const { segment, index } = sentence;
    const start = index + segment.length - segment.trimStart().length;
    const text = segment.trim();
    const span = { start: answer.start - start, end: Math.min(answer.end - start, text.length) };
    passages.set(index, { text, start, end: start + text.length, span });
  }
  return [...passages.values()].slice(0, kShown);
}
