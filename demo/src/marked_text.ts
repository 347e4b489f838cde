import { make } from './dom.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Builds a text in which `mark` makes an element of each span. Spans are in order, do not overlap, and refer to `text`. */
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
