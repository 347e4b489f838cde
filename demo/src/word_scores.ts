// Shows a text with each word tinted by its score in an explanation.
import type { ExplainedWord } from '../peruse/peruse.js';
import { make, withDirection } from './dom.js';
import { percent } from './format.js';
import { markedText } from './marked_text.js';

const kMostWords = 60; // An explanation calls the model once for each word, while the visitor types.
const kLeastScore = 0.02; // A lower highest score is shown in a paler colour.

export function canExplain(text: string): boolean {
  const words = text.match(/\S+/g)?.length ?? 0;
  return words >= 2 && words <= kMostWords;
}

/** The scores must come from occlusion that leaves each word out. */
export function wordScores(text: string, words: readonly ExplainedWord[], answer: string): HTMLElement[] {
  const highest = Math.max(kLeastScore, ...words.map(({ score }) => Math.abs(score)));
  const tinted = markedText(text, words, (word, { score }) => {
    const mark = make('span', score >= 0 ? 'word for' : 'word against', word);
    mark.style.setProperty('--share', String(Math.abs(score) / highest));
    mark.title = `without it: ${score >= 0 ? '\u2212' : '+'}${percent(Math.abs(score))}`;
    return mark;
  });
  const key = make(
    'p',
    'hint',
    'Each word left out in turn: ',
    make('span', 'word for full', 'speaks for it'),
    ' ',
    make('span', 'word against full', 'speaks against it'),
  );
  return [make('p', 'influence-title', 'Which words say \u201c', answer, '\u201d'), withDirection(make('blockquote', '', ...tinted)), key];
}
