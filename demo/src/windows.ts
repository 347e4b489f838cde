// Texts that are longer than a model takes, read part by part.
import { PeruseError } from '../peruse/peruse.js';

/** A part of a text, and what the model said of it. */
export interface Part<R> {
  readonly start: number;
  readonly end: number;
  readonly result: R;
}

/** Asks about the text; where it is too long, about its halves, cut where a sentence or at least a word ends, and so on. */
export async function inParts<R>(text: string, ask: (part: string) => Promise<R>, start = 0, end = text.length): Promise<Part<R>[]> {
  try {
    return [{ start, end, result: await ask(text.slice(start, end)) }];
  } catch (error) {
    const isTooLong = error instanceof PeruseError && error.code === 'text_too_long';
    const middle = cutNear(text, start, end);
    if (!isTooLong || middle === undefined) throw error;
    return [...(await inParts(text, ask, start, middle)), ...(await inParts(text, ask, middle, end))];
  }
}

/** The end of a sentence, else of a word, nearest to the middle; nothing where the text has neither. */
function cutNear(text: string, start: number, end: number): number | undefined {
  const middle = (start + end) / 2;
  for (const pattern of [/[.!?\u2026]["'\u201d\u2019)]*\s+/g, /\s+/g]) {
    let best: number | undefined;
    for (const found of text.slice(start, end).matchAll(pattern)) {
      const at = start + found.index + found[0].length;
      if (at < end && (best === undefined || Math.abs(at - middle) < Math.abs(best - middle))) best = at;
    }
    // Halves that are hardly halves would be cut again and again.
    if (best !== undefined && best - start > (end - start) / 8 && end - best > (end - start) / 8) return best;
  }
  return undefined;
}
