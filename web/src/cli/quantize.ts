import { quantizeCheckpoint } from '../quantize/quantize.js';
import type { Command } from './command.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';

export const quantize: Command = {
  summary: 'Write a checkpoint with 8-bit weights (dtype q8) to a folder',
  usage: '<model> <folder>',
  details: 'The result is a quarter of the size, loads like any checkpoint, and gives the results of the original with dtype q8.',
  options: kRewriteOptions,
  run: (positionals, values, io) => withRewriting(quantizeCheckpoint, positionals, values, io),
};
