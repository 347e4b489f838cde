// Where a command reads and writes: the process's streams, or a test's.
import { linesOf } from './input_lines.js';

export interface Io {
  /** Lines of standard input, without their ends. */
  lines(): AsyncIterable<string>;
  /** Standard input, whole. */
  all(): Promise<string>;
  /** Whether standard input is a person's terminal. */
  inputIsTty: boolean;
  out(line: string): void;
  err(text: string): void;
  /** Whether standard error is a terminal: only then are progress bars drawn. */
  errIsTty: boolean;
  /** Columns of that terminal. */
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
    inputIsTty: process.stdin.isTTY === true,
    out: (line) => {
      process.stdout.write(`${line}\n`);
    },
    err: (text) => {
      process.stderr.write(text);
    },
    errIsTty: process.stderr.isTTY === true,
    columns: process.stderr.columns ?? 80,
    environment: process.env,
  };
}
