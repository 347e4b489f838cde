// quantizeCheckpoint(): writes a q8 or q4 checkpoint in Node. Its results are bit-identical to those of the original loaded with that dtype.
// docs/precision.md describes both.
import { PeruseError, show } from '../errors.js';
import { isQuantizedForm, kUsualForm, type QuantizedForm } from '../precisions.js';
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint, writeModel } from './rewrite_checkpoint.js';

export interface QuantizeOptions extends RewriteOptions {
  /** 'q8', the default, or 'q4': token embeddings of 4 bits. */
  dtype?: QuantizedForm;
}

/** Report of quantizeCheckpoint(). */
export interface QuantizeReport {
  /** Number of tensors in 8 or 4 bits. */
  quantized: number;
  /** Number of copied tensors. */
  copied: number;
  bytesBefore: number;
  bytesAfter: number;
  /** Warnings, for example that the source was quantised already. */
  notices: string[];
}

/**
 * Writes the checkpoint of `source` to `folder` with linear layers and token embeddings as 8-bit integers (dtype 'q8'), or with token
 * embeddings of 4 bits (dtype 'q4'). A q8 or q4 checkpoint is widened to float32 first.
 *
 * @throws PeruseError
 */
export async function quantizeCheckpoint(source: Source, folder: string, options: QuantizeOptions = {}): Promise<QuantizeReport> {
  const { dtype = kUsualForm } = options;
  if (!isQuantizedForm(dtype)) throw new PeruseError('invalid_argument', `dtype must be 'q8' or 'q4', not ${show(dtype)}.`);
  const {
    encoded,
    file: _,
    ...rest
  } = await writeModel(source, folder, options, (staged) => rewriteCheckpoint(source, staged, options, dtype));
  return { quantized: encoded, ...rest };
}
