import { linesOf } from './input_lines.js';

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
