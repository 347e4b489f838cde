import { createReadStream } from 'node:fs';
import { describeError, PeruseError } from '../errors.js';
import type { TrimOptions } from '../quantize/trim.js';
import { flag, number, type Options, text, type Values } from './command.js';
import { linesOf } from './input_lines.js';

export const kTrimOptions: Options = {
  texts: { type: 'string', value: 'file', help: 'texts whose pieces are kept, one per line; every tenth is held out' },
  'keep-scripts': { type: 'string', value: 'names', help: 'Unicode scripts whose pieces are all kept: Latin,Cyrillic' },
  'least-pieces': { type: 'string', value: 'n', help: 'keep at least n pieces: also the most frequent ones of the vocabulary' },
  force: { type: 'boolean', help: 'write the model even if more than a fifth of the held-out texts change' },
  'held-out': { type: 'string', value: 'file', help: 'texts to compare the tokenizers with, instead of every tenth' },
};

export async function trimOptions(values: Values): Promise<Pick<TrimOptions, 'texts' | 'keep_scripts' | 'held_out'>> {
  const texts = await textsOf(text(values, 'texts'));
  const heldOut = await textsOf(text(values, 'held-out'));
  const scripts = text(values, 'keep-scripts');
  const leastPieces = number(values, 'least-pieces');
  return {
    ...(leastPieces !== undefined && { least_pieces: leastPieces }),
    ...(flag(values, 'force') && { force: true }),
    ...(texts && { texts }),
    ...(heldOut && { held_out: heldOut }),
    ...(scripts !== undefined && { keep_scripts: scripts.split(',').map((name) => name.trim()) }),
  };
}

export async function textsOf(path: string | undefined): Promise<string[] | undefined> {
  if (path === undefined) return undefined;
  const lines: string[] = [];
  try {
    for await (const line of linesOf(createReadStream(path))) if (line !== '') lines.push(line);
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('not_found', `${path} can't be read: ${describeError(error)}.`, { cause: error });
  }
  return lines;
}
