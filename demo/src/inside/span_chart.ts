// Bars over each word of the passage: how likely an answer begins there and ends there.
import type { Answer } from '../../peruse/peruse.js';
import { make } from '../dom.js';
import { percent } from '../format.js';

/** Number of the best spans that are added up; the others have almost no probability. */
export const kSpans = 60;
const kMostWords = 48;

/** Adds up the probabilities of the spans by first and by last word, and shows the words around the best span. */
export function spanChart(passage: string, answers: readonly Answer[]): HTMLElement {
  const words = [...passage.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ word, start: index, end: index + word.length }));
  const total = answers.reduce((sum, { score }) => sum + score, 0) || 1;
  const begins = words.map(({ start, end }) => sumOf(answers.filter((answer) => answer.start >= start && answer.start < end)) / total);
  const ends = words.map(({ start, end }) => sumOf(answers.filter((answer) => answer.end > start && answer.end <= end)) / total);
  const most = Math.max(...begins, ...ends, 1e-6);
  const best = answers[0]?.start ?? 0;
  const middle = words.findIndex(({ end }) => end > best);
  const first = Math.max(0, Math.min(middle - kMostWords / 2, words.length - kMostWords));
  const shown = words.slice(first, first + kMostWords).map(({ word, start, end }, index) => {
    const [begin = 0, finish = 0] = [begins[first + index], ends[first + index]];
    const bar = (name: string, share: number) => {
      const element = make('span', `span-bar ${name}`);
      element.style.setProperty('--weight', String(share / most));
      return element;
    };
    const column = make('span', 'span-column', bar('begins', begin), bar('ends', finish));
    column.setAttribute('aria-hidden', 'true');
    const isAnswer = answers[0] !== undefined && start < answers[0].end && end > answers[0].start;
    const item = make('li', isAnswer ? 'in-answer' : '', column, make('span', 'span-word', word));
    item.title = `begins here ${percent(begin)}, ends here ${percent(finish)}`;
    return item;
  });
  const key = make(
    'p',
    'hint',
    make('span', 'key begins-key'),
    ' begins here ',
    make('span', 'key ends-key'),
    ` ends here (highest bar ${percent(most)})`,
  );
  return make('div', 'span-chart', make('ol', 'span-words', ...shown), key);
}

function sumOf(answers: readonly Answer[]): number {
  return answers.reduce((sum, { score }) => sum + score, 0);
}
