// peruse quantize: a checkpoint with 8-bit weights, written to a folder.
import { env } from '../env.js';
import { quantizeCheckpoint } from '../quantize/quantize.js';
import { flag, needed, text, UsageError, type Command } from './command.js';
import { kModelOptions } from './model_options.js';
import { ProgressBar } from './progress_bar.js';

const { revision, token, offline, 'no-cache': noCache } = kModelOptions;

export const quantize: Command = {
  summary: 'Write a checkpoint with 8-bit weights (dtype q8) to a folder',
  usage: '<model> <folder>',
  details: 'The result is a quarter of the size, loads like any checkpoint, and gives what dtype q8 gives for the original.',
  options: { revision: revision!, token: token!, offline: offline!, 'no-cache': noCache! },
  async run(positionals, values, io) {
    const [model, folder, ...rest] = needed(positionals, ['model', 'folder']);
    if (rest.length > 0) throw new UsageError(`'${rest[0]}' is one argument too many`);
    if (flag(values, 'no-cache')) env.cache = false;
    const bar = io.errIsTty ? new ProgressBar(io) : undefined;
    try {
      const report = await quantizeCheckpoint(model, folder, {
        revision: text(values, 'revision'),
        token: text(values, 'token') ?? io.environment['HF_TOKEN'],
        local_files_only: flag(values, 'offline'),
        progress_callback: (progress) => bar?.show(progress),
      });
      io.out(JSON.stringify({ folder, ...report }));
    } finally {
      bar?.clear();
    }
  },
};
