import type { Inspection } from '../../peruse/peruse.js';
import { headMap } from './selection.js';

export interface ChosenHead {
  readonly layer: number;
  readonly head: number;
  readonly heads: number;
  readonly decided: number;
}

/**
 * Chooses the head with the highest score: the mean over words of the largest weight on another word, times the share of words that do not
 * have the most frequent target or offset.
 */
export function chooseHead(inspection: Inspection): ChosenHead {
  const words = inspection.tokens.flatMap(({ special }, index) => (special ? [] : [index]));
  let best: ChosenHead & { value: number } = { layer: 0, head: 0, heads: 0, decided: 0, value: -1 };
  let heads = 0;
  for (const [layer, { dims }] of (inspection.attentions ?? []).entries()) {
    for (let head = 0; head < (dims[0] ?? 0); head++) {
      heads++;
      const { decided, sameness } = judge(headMap(inspection, layer, head), inspection.tokens.length, words);
      const value = decided * (1 - sameness);
      if (value > best.value) best = { layer, head, heads, decided, value };
    }
  }
  return { layer: best.layer, head: best.head, heads, decided: best.decided };
}

function judge(map: Float32Array, size: number, words: readonly number[]): { decided: number; sameness: number } {
  const [distances, targets] = [new Map<number, number>(), new Map<number, number>()];
  const add = (counts: Map<number, number>, key: number) => counts.set(key, (counts.get(key) ?? 0) + 1);
  let sum = 0;
  for (const from of words) {
    let [most, at] = [0, from];
    for (const to of words) {
      const weight = map[from * size + to] ?? 0;
      if (to !== from && weight > most) [most, at] = [weight, to];
    }
    sum += most;
    add(distances, at - from);
    add(targets, at);
  }
  const count = Math.max(words.length, 1);
  return { decided: sum / count, sameness: Math.max(0, ...distances.values(), ...targets.values()) / count };
}
