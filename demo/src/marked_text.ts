// A text with spans of it marked. Positions are indices into the caller's own string.
import { make } from './dom.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text, and in it what `mark` makes of each span's words; spans are in order and do not overlap. */
export function markedText<S extends Span>(text: string, spans: readonly S[], mark: (words: string, span: S) => Node): (Node | string)[] {
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const span of spans) {
    parts.push(text.slice(end, span.start), mark(text.slice(span.start, span.end), span));
    end = span.end;
  }
  return [...parts, text.slice(end)];
}

export function plainMark(words: string): Node {
  return make('mark', '', words);
}
