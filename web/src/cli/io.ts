import { PeruseError, printable } from '../errors.js';

export interface Io {
  lines(): AsyncIterable<string>;
  all(): Promise<string>;
  inputIsTty: boolean;
  bytes(): AsyncIterable<Uint8Array>;
  out(line: string): void;
  /** Writes to standard output. Resolves when more can be written. */
  write(text: string): Promise<void>;
  err(text: string): void;
  /** Whether standard error is a terminal, so that progress bars are shown. */
  errIsTty: boolean;
  columns: number;
  environment: Readonly<Record<string, string | undefined>>;
}

export function processIo(): Io {
  return {
    lines: () => linesOf(process.stdin as AsyncIterable<Uint8Array>),
    all: async () => {
      const parts: Buffer[] = [];
      for await (const part of process.stdin) parts.push(part as Buffer);
      return Buffer.concat(parts).toString('utf8');
    },
    bytes: () => process.stdin as AsyncIterable<Uint8Array>,
    inputIsTty: process.stdin.isTTY === true,
    out: (line) => {
      process.stdout.write(`${line}\n`);
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
    err: (text) => {
      process.stderr.write(text);
    },
    errIsTty: process.stderr.isTTY === true,
    columns: process.stderr.columns ?? 80,
    environment: process.env,
  };
}

export { printable };

/** Formats a value as one line of JSON, and escapes control characters that JSON allows. */
export function jsonLine(value: unknown): string {
  return printable(JSON.stringify(value));
}

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
