// Measures the influence of each word: leaves it out, and asks the model again.
import { make } from './dom.js';
import { percent } from './format.js';
import { markedText } from './marked_text.js';

const kMostWords = 60; // With more words the measurement takes too long while somebody types.
const kAtOnce = 8;

export interface Influence {
  readonly start: number;
  readonly end: number;
  /** How much the probability falls without the word; negative if it rises. */
  readonly weight: number;
}

/** `score` returns the probability of the original answer for several texts; it also gets the unchanged text. */
export async function influences(
  text: string,
  score: (texts: string[]) => Promise<number[]>,
  signal: AbortSignal,
): Promise<Influence[] | undefined> {
  const words = [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ start: index, end: index + word.length }));
  if (words.length < 2 || words.length > kMostWords) return undefined;
  const texts = [text, ...words.map(({ start, end }) => `${text.slice(0, start)}${text.slice(end)}`.trim())];
  const scores: number[] = [];
  for (let at = 0; at < texts.length && !signal.aborted; at += kAtOnce) scores.push(...(await score(texts.slice(at, at + kAtOnce))));
  const [whole = 0, ...without] = scores;
  return words.map((word, index) => ({ ...word, weight: whole - (without[index] ?? whole) }));
}

/** Shows the text with each word tinted by whether it speaks for or against the answer. */
export function influenceView(text: string, found: readonly Influence[], answer: string): HTMLElement[] {
  const most = Math.max(0.02, ...found.map(({ weight }) => Math.abs(weight)));
  const tinted = markedText(text, found, (words, { weight }) => {
    const mark = make('span', weight >= 0 ? 'word for' : 'word against', words);
    mark.style.setProperty('--share', String(Math.abs(weight) / most));
    mark.title = `without it: ${weight >= 0 ? '\u2212' : '+'}${percent(Math.abs(weight))}`;
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
  return [make('p', 'influence-title', 'Which words say \u201c', answer, '\u201d'), make('blockquote', '', ...tinted), key];
}
