// Runs a command of `peruse` in this process, with the test's own streams.
import '../../../web/dist/index_node.js';
import type { Io } from '../../../web/dist/cli/io.js';
import { runCli } from '../../../web/dist/cli/run.js';

interface Surroundings {
  /** Lines of standard input; undefined makes it a terminal. */
  input?: string[];
  errIsTty?: boolean;
  environment?: Record<string, string>;
}

export async function peruse(args: string[], { input, errIsTty = false, environment = {} }: Surroundings = {}) {
  let out = '';
  let err = '';
  const io: Io = {
    lines: async function* () {
      yield* input ?? [];
    },
    all: async () => (input ?? []).join('\n'),
    bytes: async function* () {
      yield Buffer.from((input ?? []).map((line) => `${line}\n`).join(''));
    },
    inputIsTty: input === undefined,
    out: (line) => {
      out += `${line}\n`;
    },
    write: async (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    errIsTty,
    columns: 80,
    environment,
  };
  const code = await runCli(args, io);
  return {
    code,
    out,
    err,
    get lines() {
      return out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    },
  };
}
