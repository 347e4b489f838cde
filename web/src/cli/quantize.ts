import { isQuantizedForm, kUsualForm } from '../precisions.js';
import { quantizeCheckpoint } from '../quantize/quantize.js';
import { type Command, text, UsageError } from './command.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';

export const quantize: Command = {
  summary: 'Write a checkpoint with weights of 8 bits (dtype q8) or 4 (q4) to a folder',
  usage: '<model> <folder>',
  details: 'The result loads like any checkpoint, with the results of the original with that dtype. q4: token embeddings of 4 bits.',
  options: { ...kRewriteOptions, dtype: { type: 'string', value: 'name', help: 'q8 or q4 (q8)' } },
  run: (positionals, values, io) => {
    const dtype = text(values, 'dtype') ?? kUsualForm;
    if (!isQuantizedForm(dtype)) throw new UsageError(`--dtype is q8 or q4, not ${dtype}`);
    return withRewriting((model, folder, options) => quantizeCheckpoint(model, folder, { ...options, dtype }), positionals, values, io);
  },
};
