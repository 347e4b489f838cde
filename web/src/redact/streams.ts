// Redaction and restoration of a text that arrives in pieces. Neither depends on where the pieces begin.
import { checkString } from '../checks.js';
import type { Redaction } from './types.js';

/** Number of characters up to which a text is redacted as a whole. */
const kLongest = 4096;
/** A part of a longer text ends at least this many characters before the limit, so that a name or number at the limit stays whole. */
const kMargin = 256;

/** Ends of parts, the best first: blank lines, lines, sentences, words. A number may go on in the next line. */
const kEnds = [/\n\s*\n/g, /(?<!\d\r?)\n(?!\d)/g, /(?<=[^\d\s][.!?…。！？]['")\]]?)\s(?!\d)/g, /(?<!\d)\s(?!\d)/g];

function endOfPart(text: string): number {
  const part = text.slice(0, kLongest - kMargin);
  for (const pattern of kEnds) {
    const last = [...part.matchAll(pattern)].at(-1);
    if (last !== undefined && last.index >= kLongest / 4) return last.index + last[0].length;
  }
  return /[\ud800-\udbff]$/.test(part) ? part.length - 1 : part.length;
}

export function redactStream(redact: (text: string) => Promise<Redaction>): TransformStream<string, string> {
  let held = '';
  return new TransformStream({
    async transform(piece, controller) {
      held += checkString(piece, 'A piece of the stream');
      while (held.length > kLongest) {
        const end = endOfPart(held);
        controller.enqueue((await redact(held.slice(0, end))).text);
        held = held.slice(end);
      }
    },
    async flush(controller) {
      if (held !== '') controller.enqueue((await redact(held)).text);
    },
  });
}

/** The longest placeholder in any spelling (placeholders.ts), rounded up. */
const kLongestPlaceholder = 256;
/** What a later piece may complete to a placeholder: an open bracket, or a word. */
const kOpen = /(?:\\?[[({<【［「][^[\](){}<>【】［］「」\n]*|[\p{L}\p{N}_\\]+|[\ud800-\udbff])$/u;

function firstOpen(text: string): number {
  const from = Math.max(0, text.length - kLongestPlaceholder);
  return from + (kOpen.exec(text.slice(from))?.index ?? text.length - from);
}

/** `restore` puts back the details of a text. */
export function restoreStream(restore: (text: string) => string): TransformStream<string, string> {
  let held = '';
  /** The last character of the text before `held`: after a letter, no placeholder without brackets begins. */
  let before = '';
  const restored = (text: string) => restore(before + text).slice(before.length);
  return new TransformStream({
    transform(piece, controller) {
      held += checkString(piece, 'A piece of the stream');
      const end = firstOpen(held);
      if (end === 0) return;
      controller.enqueue(restored(held.slice(0, end)));
      before = held.slice(end - 1, end);
      held = held.slice(end);
    },
    flush(controller) {
      if (held !== '') controller.enqueue(restored(held));
    },
  });
}
