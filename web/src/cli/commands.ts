import { answer } from './answer.js';
import { cache } from './cache.js';
import { classify } from './classify.js';
import type { Command, Options } from './command.js';
import { copyFiles } from './copy_files.js';
import { embed } from './embed.js';
import { evaluate } from './evaluate.js';
import { indexFiles } from './index_files.js';
import { inspect } from './inspect.js';
import { pretrain } from './pretrain.js';
import { rank } from './rank.js';
import { redact } from './redact.js';
import { convert, quantize, shrink, trim } from './rewrite.js';
import { serveDemo } from './serve_demo.js';
import { tag } from './tag.js';
import { teach } from './teach.js';

export const kCommands: Record<string, Command> = {
  classify,
  answer,
  tag,
  redact,
  rank,
  embed,
  evaluate,
  index: indexFiles,
  teach,
  pretrain,
  inspect,
  cache,
  'serve-demo': serveDemo,
  'copy-files': copyFiles,
  quantize,
  convert,
  trim,
  shrink,
};

export function generalHelp(): string {
  const width = Math.max(...Object.keys(kCommands).map((name) => name.length));
  const commands = Object.entries(kCommands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `Usage: peruse <command> [options]

Runs Hugging Face text models on this machine.

Commands:
${commands.join('\n')}

A model is a folder, a URL or a hub id (user/model). Results are JSON lines on standard output.
peruse <command> --help shows its options. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 some rows of --in failed.
`;
}

export function commandHelp(name: string, command: Command): string {
  const details = command.details === undefined ? '' : `\n${command.details}\n`;
  return `Usage: peruse ${name} ${command.usage}

${command.summary}.
${details}
Options:
${optionLines({ ...command.options, help: { type: 'boolean', short: 'h', help: 'this text' } }).join('\n')}
`;
}

function optionLines(options: Options): string[] {
  const named = Object.entries(options).map(([name, { short, value, help }]) => ({
    left: `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
    help,
  }));
  const width = Math.max(...named.map(({ left }) => left.length));
  return named.map(({ left, help }) => `  ${left.padEnd(width)}  ${help}`);
}
