// Which texts to label next: those that the model is least sure of, and of these such as differ from each other (Lewis and Gale, 1994; the
// trade between both is the greedy one of Carbonell and Goldstein, 1998).
import { PeruseError, show } from '../errors.js';
import { checkString } from '../tasks/call.js';

/** A text to label next. */
export interface Suggestion {
  /** Its place in the list. */
  index: number;
  text: string;
  /** How unsure the model is, from 0 to 1: 1 less the difference of its two best probabilities. */
  uncertainty: number;
  /** What it would answer. */
  label: string;
}

/** What suggesting asks of the taught model. */
export interface SuggestParts {
  /** Labels with scores by text, best first. */
  classify(texts: string[]): Promise<{ label: string; score: number }[][]>;
  /** Unit vectors by text. */
  embed(texts: string[]): Promise<Float32Array[]>;
}

/** Number of texts that are compared with each other, per text to return. */
const kCandidates = 8;

export async function suggest(parts: SuggestParts, texts: unknown, count: number, severalLabels: boolean): Promise<Suggestion[]> {
  if (!Array.isArray(texts)) throw new PeruseError('invalid_argument', `suggest() takes a list of texts, not ${show(texts)}.`);
  if (!Number.isInteger(count) || count < 1) {
    throw new PeruseError('invalid_argument', `suggest() takes the number of texts to give, at least 1, not ${show(count)}.`);
  }
  const first = new Map<string, number>(); // A text that is there twice is suggested once.
  for (const [index, text] of (texts as unknown[]).entries()) {
    const own = checkString(text, `text ${index}`);
    if (own.trim() !== '' && !first.has(own)) first.set(own, index);
  }
  const known = [...first.keys()];
  if (known.length === 0) return [];
  const answers = await parts.classify(known);
  const all = known.map((text, number) => {
    const scores = answers[number]!;
    return { index: first.get(text)!, text, uncertainty: uncertaintyOf(scores, severalLabels), label: scores[0]!.label };
  });
  const unsure = all.sort((a, b) => b.uncertainty - a.uncertainty || a.index - b.index).slice(0, kCandidates * count);
  return count === 1 ? unsure.slice(0, 1) : spread(unsure, await parts.embed(unsure.map(({ text }) => text)), count);
}

function uncertaintyOf(scores: readonly { score: number }[], severalLabels: boolean): number {
  if (severalLabels) return Math.max(...scores.map(({ score }) => 1 - 2 * Math.abs(score - 0.5)));
  return scores.length < 2 ? 0 : 1 - (scores[0]!.score - scores[1]!.score);
}

/** The first, then again and again the one with the largest product of its uncertainty and its distance from those taken. */
function spread(candidates: readonly Suggestion[], vectors: readonly Float32Array[], count: number): Suggestion[] {
  const nearest = candidates.map(() => -1); // The largest cosine with one that is taken.
  const taken: Suggestion[] = [];
  const left = new Set(candidates.keys());
  while (taken.length < count && left.size > 0) {
    let best = -1;
    let most = -Infinity;
    for (const number of left) {
      const value = candidates[number]!.uncertainty * (1 - nearest[number]!);
      if (value > most) [best, most] = [number, value];
    }
    left.delete(best);
    taken.push(candidates[best]!);
    for (const number of left) nearest[number] = Math.max(nearest[number]!, dot(vectors[number]!, vectors[best]!));
  }
  return taken;
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
