import { isQuantizedForm, kUsualForm } from '../precisions.js';
import { shrinkCheckpoint } from '../quantize/shrink.js';
import { type Command, text, UsageError } from './command.js';
import { kWeightsOptions, weightsOptions } from './model_options.js';
import { kRewriteOptions, withRewriting } from './rewrite.js';
import { kTrimOptions, textsOf, trimOptions } from './trim_options.js';

const { dtype: _, ...kFileOptions } = kWeightsOptions;

export const shrink: Command = {
  summary: 'Write a small copy of a checkpoint, ready to host: trimmed, as 8-bit integers, as safetensors',
  usage: '<model> <folder>',
  details: 'Reads safetensors, pytorch_model.bin or ONNX. Reports the difference to the source, also in README.md.',
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
