import { convertCheckpoint } from '../quantize/convert.js';
import type { Command } from './command.js';
import { kWeightsOptions, weightsOptions } from './model_options.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';

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
