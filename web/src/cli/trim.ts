import { trimCheckpoint } from '../quantize/trim.js';
import type { Command } from './command.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';
import { kTrimOptions, trimOptions } from './trim_options.js';

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
