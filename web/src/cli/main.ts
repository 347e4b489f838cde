#!/usr/bin/env node
// The command `peruse`. Results go to stdout as JSON lines, everything else to stderr. Exit codes: 0 success; 1 failure, with a line on
// stderr; 2 invalid command line; 129, 130 and 143 after SIGHUP, SIGINT and SIGTERM.
import '../index_node.js';
import { removePartialFiles } from '../cache/write_file_node.js';
import { processIo } from './io.js';
import { runCli } from './run.js';

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const) {
  process.on(signal, () => {
    removePartialFiles();
    process.exit(code);
  });
}
// A reader such as `head` may close the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), processIo());
