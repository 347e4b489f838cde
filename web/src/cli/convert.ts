// peruse convert: a checkpoint as safetensors, written to a folder.
import { convertCheckpoint } from '../quantize/convert.js';
import type { Command } from './command.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';

export const convert: Command = {
  summary: 'Write a checkpoint as safetensors to a folder, from pytorch_model.bin for example',
  usage: '<model> <folder>',
  details: 'Every number stays as it is. Tied weights are written once. All other files of the model are copied.',
  options: kRewriteOptions,
  run: (positionals, values, io) => withRewriting(convertCheckpoint, positionals, values, io),
};
