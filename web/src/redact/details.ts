// Details found in a text, and operations on their ranges.
import { describeError, PeruseError } from '../errors.js';
import type { TextRange } from './text_folding.js';

export interface Detail extends TextRange {
  type: string;
  score: number;
  /** The highest of the tokens' probabilities of having a label, if a token classifier found it. */
  certainty?: number;
}

/** Merges overlapping details; the highest score gives the type, then the greatest length, then the order (patterns, model, finders). */
export function merged(found: readonly Detail[]): Detail[] {
  const apart: Detail[] = [];
  let decides: Detail | undefined;
  for (const one of [...found].sort((a, b) => a.start - b.start)) {
    const before = apart.at(-1);
    if (before === undefined || decides === undefined || one.start >= before.end) {
      if (one.end === one.start) continue;
      apart.push({ ...one });
      decides = one;
      continue;
    }
    before.end = Math.max(before.end, one.end);
    if (one.score < decides.score || (one.score === decides.score && one.end - one.start <= decides.end - decides.start)) continue;
    decides = one;
    Object.assign(before, { type: one.type, score: one.score });
  }
  return apart;
}

const kLetter = /[\p{L}\p{N}\p{Surrogate}]/u;

/** Returns the parts of ranges outside of `details`, in text order; ranges without letters or digits between them become one. */
export function unreplaced<R extends TextRange & { reason: string }>(
  text: string,
  ranges: readonly R[],
  details: readonly TextRange[],
): R[] {
  const left: R[] = [];
  const add = (range: R) => {
    if (!kLetter.test(text.slice(range.start, range.end))) return;
    const before = left.at(-1);
    if (before !== undefined && !/[\p{L}\p{N}]/u.test(text.slice(before.end, range.start)) && isSame(before, range)) {
      before.end = Math.max(before.end, range.end);
    } else {
      left.push({ ...range });
    }
  };
  let next = 0; // the first detail that ends after the range begins
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    while (next < details.length && details[next]!.end <= range.start) ++next;
    let start = range.start;
    for (let at = next; at < details.length && details[at]!.start < range.end; ++at) {
      add({ ...range, start, end: details[at]!.start });
      start = details[at]!.end;
    }
    add({ ...range, start });
  }
  return left;
}

function isSame(before: TextRange & { reason: string }, next: TextRange & { reason: string }): boolean {
  return next.start < before.end || next.reason === before.reason;
}

/** Calls a function of the caller's, which `what` names in the error if it throws. */
export function calling<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('invalid_argument', `${what} failed: ${describeError(error)}`, { cause: error });
  }
}
