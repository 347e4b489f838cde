// A text after replacements, which maps ranges back to the text before them.
import type { FoldedText, TextRange } from './text_folding.js';

/** A replacement: `length` units at `at` of the new text stand for `start` to `end` of the old one. */
interface Edit extends TextRange {
  at: number;
  length: number;
}

class EditedText implements FoldedText {
  readonly #edits: readonly Edit[];
  readonly #before: FoldedText;

  constructor(
    readonly text: string,
    edits: readonly Edit[],
    before: FoldedText,
  ) {
    this.#edits = edits;
    this.#before = before;
  }

  original({ start, end }: TextRange): TextRange {
    const from = this.#place(start).start;
    return this.#before.original({ start: from, end: end > start ? this.#place(end - 1).end : from });
  }

  /** The range of the old text that a unit of the new text stands for. */
  #place(at: number): TextRange {
    let low = 0;
    let high = this.#edits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#edits[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    const edit = this.#edits[low - 1];
    if (edit === undefined) return { start: at, end: at + 1 };
    if (at < edit.at + edit.length) return { start: edit.start, end: edit.end };
    const moved = edit.end + at - edit.at - edit.length;
    return { start: moved, end: moved + 1 };
  }
}

/** Replaces matches of a global pattern. `replace` returns undefined to leave a match as it is. */
export function edited(before: FoldedText, pattern: RegExp, replace: (match: RegExpExecArray) => string | undefined): FoldedText {
  const edits: Edit[] = [];
  let text = '';
  let done = 0;
  for (const match of before.text.matchAll(pattern)) {
    const [found] = match;
    const replacement = replace(match);
    if (replacement === undefined || replacement === found) continue;
    text += before.text.slice(done, match.index);
    done = match.index + found.length;
    edits.push({ at: text.length, length: replacement.length, start: match.index, end: done });
    text += replacement;
  }
  return edits.length === 0 ? before : new EditedText(text + before.text.slice(done), edits, before);
}
