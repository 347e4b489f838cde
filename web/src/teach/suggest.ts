// Chooses texts to label next: uncertain ones (Lewis and Gale, 1994) that differ from each other, traded off greedily (Carbonell and
// Goldstein, 1998).
import { PeruseError, show } from '../errors.js';
import { checkString } from '../tasks/call.js';

/** A text to label next. */
export interface Suggestion {
  /** Index in the caller's list. */
  index: number;
  text: string;
  /** From 0 to 1: 1 minus the difference of the two best probabilities. */
  uncertainty: number;
  /** The label that the model predicts. */
  label: string;
}

export interface SuggestModels {
  classify(texts: string[]): Promise<{ label: string; score: number }[][]>;
  embed(texts: string[]): Promise<Float32Array[]>;
}

/** Number of candidates that are compared, for each text to return. */
const kCandidates = 8;

export async function suggest(models: SuggestModels, texts: unknown, count: number, severalLabels: boolean): Promise<Suggestion[]> {
  if (!Array.isArray(texts)) throw new PeruseError('invalid_argument', `suggest() takes a list of texts, not ${show(texts)}.`);
  if (!Number.isInteger(count) || count < 1) {
    throw new PeruseError('invalid_argument', `suggest() takes the number of texts to give, at least 1, not ${show(count)}.`);
  }
  const first = new Map<string, number>(); // index of the first occurrence of each text
  for (const [index, text] of (texts as unknown[]).entries()) {
    const own = checkString(text, `text ${index}`);
    if (own.trim() !== '' && !first.has(own)) first.set(own, index);
  }
  const known = [...first.keys()];
  if (known.length === 0) return [];
  const answers = await models.classify(known);
  const all = known.map((text, number) => {
    const scores = answers[number]!;
    return { index: first.get(text)!, text, uncertainty: uncertaintyOf(scores, severalLabels), label: scores[0]!.label };
  });
  const unsure = all.sort((a, b) => b.uncertainty - a.uncertainty || a.index - b.index).slice(0, kCandidates * count);
  return count === 1 ? unsure.slice(0, 1) : spread(unsure, await models.embed(unsure.map(({ text }) => text)), count);
}

function uncertaintyOf(scores: readonly { score: number }[], severalLabels: boolean): number {
  if (severalLabels) return Math.max(...scores.map(({ score }) => 1 - 2 * Math.abs(score - 0.5)));
  return scores.length < 2 ? 0 : 1 - (scores[0]!.score - scores[1]!.score);
}

/** Takes the most uncertain candidate, then repeatedly the one with the largest product of uncertainty and distance from those taken. */
function spread(candidates: readonly Suggestion[], vectors: readonly Float32Array[], count: number): Suggestion[] {
  const nearest = candidates.map(() => -1); // for each candidate: largest cosine with one that was taken
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
