// The commands that write a copy of a checkpoint: quantize, convert, trim and shrink.
import { createReadStream } from 'node:fs';
import { env } from '../env.js';
import { describeError, PeruseError } from '../errors.js';
import { isQuantizedForm, kUsualForm } from '../precisions.js';
import { convertCheckpoint, quantizeCheckpoint } from '../quantize/quantize.js';
import type { RewriteOptions } from '../quantize/rewrite_checkpoint.js';
import { shrinkCheckpoint } from '../quantize/shrink.js';
import { type TrimOptions, trimCheckpoint } from '../quantize/trim.js';
import { type Command, flag, needed, number, type Options, text, UsageError, type Values } from './command.js';
import { type Io, jsonLine, linesOf, printable } from './io.js';
import { explainModel, kModelOptions, kWeightsOptions, weightsOptions } from './model_options.js';
import { ProgressBar } from './progress_bar.js';

const { revision, token, offline, 'no-cache': noCache } = kModelOptions;

const kRewriteOptions: Options = {
  revision: revision!,
  token: token!,
  offline: offline!,
  'no-cache': noCache!,
  overwrite: { type: 'boolean', help: 'replace a model in the folder' },
  route: { type: 'string', value: 'name', help: 'write only the modules of this route of a Router, such as query' },
};

async function withRewriting(
  rewrite: (model: string, folder: string, options: RewriteOptions) => Promise<object>,
  positionals: string[],
  values: Values,
  io: Io,
): Promise<void> {
  const [model, folder, ...rest] = needed(positionals, ['model', 'folder']);
  if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
  if (flag(values, 'no-cache')) env.cache = false;
  const bar = io.errIsTty ? new ProgressBar(io) : undefined;
  try {
    const report = await rewrite(model, folder, {
      revision: text(values, 'revision'),
      token: text(values, 'token') ?? io.environment.HF_TOKEN,
      offline: flag(values, 'offline'),
      overwrite: flag(values, 'overwrite'),
      ...(values.route !== undefined && { route: text(values, 'route') }),
      progress_callback: (progress) => bar?.show(progress),
    });
    const { notices = [], ...rest } = report as { notices?: readonly string[] };
    bar?.clear();
    for (const notice of notices) io.err(`${printable(notice)}\n`);
    io.out(jsonLine({ folder, ...rest }));
  } catch (error) {
    throw explainModel(error, [model]);
  } finally {
    bar?.clear();
  }
}

const kTrimOptions: Options = {
  texts: { type: 'string', value: 'file', help: 'texts whose pieces are kept, one per line; every tenth is held out' },
  'keep-scripts': { type: 'string', value: 'names', help: 'Unicode scripts whose pieces are all kept: Latin,Cyrillic' },
  'least-pieces': { type: 'string', value: 'n', help: 'keep at least n pieces: also the most frequent ones of the vocabulary' },
  force: { type: 'boolean', help: 'write the model even if more than a fifth of the held-out texts change' },
  'held-out': { type: 'string', value: 'file', help: 'texts to compare the tokenizers with, instead of every tenth' },
};

async function trimOptions(values: Values): Promise<Pick<TrimOptions, 'texts' | 'keep_scripts' | 'held_out'>> {
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

export const quantize: Command = {
  summary: 'Write a checkpoint with weights of 8 bits (dtype q8) or 4 (q4) to a folder',
  usage: '<model> <folder>',
  details:
    'The result loads like any checkpoint, with the results of the original with that dtype. With q4, token embeddings\n' +
    'have 4 bits, and so have linear layers with at least 1,024 inputs and outputs.',
  options: { ...kRewriteOptions, dtype: { type: 'string', value: 'name', help: 'q8 or q4 (q8)' } },
  run: (positionals, values, io) => {
    const dtype = text(values, 'dtype') ?? kUsualForm;
    if (!isQuantizedForm(dtype)) throw new UsageError(`--dtype is q8 or q4, not ${dtype}`);
    return withRewriting((model, folder, options) => quantizeCheckpoint(model, folder, { ...options, dtype }), positionals, values, io);
  },
};

export const convert: Command = {
  summary: 'Write a checkpoint as safetensors to a folder, from pytorch_model.bin or ONNX for example',
  usage: '<model> <folder>',
  details: 'Values do not change, except that 4-bit integers of ONNX files become float32. All other files of the model are copied.',
  options: { ...kRewriteOptions, ...kWeightsOptions },
  run: (positionals, values, io) =>
    withRewriting(
      (model, folder, options) => convertCheckpoint(model, folder, { ...options, ...weightsOptions(values) }),
      positionals,
      values,
      io,
    ),
};

export const trim: Command = {
  summary: 'Write a checkpoint with the part of its vocabulary that texts or scripts need',
  usage: '<model> <folder> --texts <file>',
  details: 'A text whose pieces are all kept is tokenized as before. Reports how many held-out texts are tokenized differently.',
  options: { ...kRewriteOptions, ...kTrimOptions },
  async run(positionals, values, io) {
    const more = await trimOptions(values);
    await withRewriting((model, folder, options) => trimCheckpoint(model, folder, { ...options, ...more }), positionals, values, io);
  },
};

const { dtype: _, ...kFileOptions } = kWeightsOptions;

export const shrink: Command = {
  summary: 'Write a small copy of a checkpoint, ready to host: trimmed, as 8-bit integers, as safetensors',
  usage: '<model> <folder>',
  details:
    'Reads safetensors, pytorch_model.bin or ONNX. Reports the difference to the source, also in README.md. With q4,\n' +
    'layers that would lose more than 12.5 % of their weights keep 8 bits; the report lists them.',
  options: {
    ...kRewriteOptions,
    ...kFileOptions,
    ...kTrimOptions,
    dtype: { type: 'string', value: 'name', help: 'q8, q4, or keep to leave values unchanged (q8)' },
    compare: { type: 'string', value: 'file', help: 'texts to compare on, one per line, instead of the held-out texts' },
  },
  async run(positionals, values, io) {
    const dtype = text(values, 'dtype') ?? kUsualForm;
    if (dtype !== 'keep' && !isQuantizedForm(dtype)) throw new UsageError(`--dtype is q8, q4 or keep, not ${dtype}`);
    const compare = await textsOf(text(values, 'compare'));
    const { dtype: __, ...files } = weightsOptions({ ...values, dtype: undefined });
    const more = { ...(await trimOptions(values)), ...files, dtype, ...(compare && { compare }) } as const;
    await withRewriting((model, folder, options) => shrinkCheckpoint(model, folder, { ...options, ...more }), positionals, values, io);
  },
};
