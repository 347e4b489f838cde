import { PeruseError } from '../errors.js';

/** Maximum line length; Node's strings are limited to 512 MB. */
const kLongestLine = 64 << 20;

export async function* linesOf(stream: AsyncIterable<Uint8Array>, longest = kLongestLine): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: string[] = []; // parts of the line that is not complete yet
  let length = 0;
  let lineNumber = 1;
  let afterReturn = false; // the line ended with \r; a following \n belongs to it
  const take = (part: string) => {
    length += part.length;
    if (length <= longest) return parts.push(part);
    throw new PeruseError('invalid_argument', `Line ${lineNumber} of standard input has more than ${longest} characters.`);
  };
  const lineWith = (part: string) => {
    take(part);
    const line = parts.join('');
    parts = [];
    length = 0;
    lineNumber += 1;
    return line;
  };
  for await (const bytes of stream) {
    let text = decoder.decode(bytes, { stream: true });
    if (afterReturn && text !== '') {
      if (text.startsWith('\n')) text = text.slice(1);
      afterReturn = false;
    }
    let from = 0;
    for (const { 0: end, index } of text.matchAll(/\r\n|\n|\r/g)) {
      yield lineWith(text.slice(from, index));
      from = index + end.length;
      afterReturn = end === '\r' && from === text.length;
    }
    if (from < text.length) take(text.slice(from));
  }
  const rest = decoder.decode();
  if (rest !== '' || length > 0) yield lineWith(rest);
}
