import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeError, PeruseError } from '../errors.js';
import { type Command, parseArgsOptions, RowErrors, UsageError, type Values } from './command.js';
import { commandHelp, generalHelp, kCommands } from './commands.js';
import { type Io, printable } from './io.js';

export async function runCli(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    if (name === undefined) io.err(generalHelp());
    else io.out(generalHelp().trimEnd());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    io.out(version());
    return 0;
  }
  if (name === 'help') return runCli([rest[0]!, '--help'], io);
  const command = Object.hasOwn(kCommands, name) ? kCommands[name]! : undefined;
  if (command === undefined) {
    io.err(`peruse: there is no command '${printable(name)}'; see peruse --help\n`);
    return 2;
  }
  return runCommand(name, command, rest, io);
}

async function runCommand(name: string, command: Command, args: string[], io: Io): Promise<number> {
  try {
    const { values, positionals } = parse(command, args);
    if (values.help === true) io.out(commandHelp(name, command).trimEnd());
    else await command.run(positionals, values, io);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`peruse ${name}: ${oneLine(error.message)}; see peruse ${name} --help\n`);
      return 2;
    }
    if (error instanceof RowErrors) {
      io.err(`peruse ${name}: ${error.message}\n`);
      return 3;
    }
    const words = error instanceof PeruseError ? `${error.message} (${error.code})` : describeError(error);
    io.err(`peruse ${name}: ${oneLine(words)}\n`);
    return 1;
  }
}

function parse(command: Command, args: string[]): { values: Values; positionals: string[] } {
  const options = { ...parseArgsOptions(command.options), help: { type: 'boolean', short: 'h' } as const };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { values: values as Values, positionals };
  } catch (error) {
    throw new UsageError(describeError(error).split(/\.\s/)[0]!);
  }
}

function oneLine(words: string): string {
  return printable(words.replace(/\s*\n\s*/g, ' '));
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
