// quantizeCheckpoint(): writes a q8 checkpoint in Node. Its results are bit-identical to those of the original loaded as 'q8'.
// docs/precision.md describes q8.
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint } from './rewrite_checkpoint.js';

export type QuantizeOptions = RewriteOptions;

/** Report of quantizeCheckpoint(). */
export interface QuantizeReport {
  /** Number of int8 tensors. */
  quantized: number;
  /** Number of copied tensors. */
  copied: number;
  bytesBefore: number;
  bytesAfter: number;
}

/**
 * Writes the checkpoint of `source` to `folder` with linear layers and token embeddings as 8-bit integers (dtype 'q8').
 *
 * @throws PeruseError, 'unsupported' for a checkpoint that is already quantised.
 */
export async function quantizeCheckpoint(source: Source, folder: string, options: QuantizeOptions = {}): Promise<QuantizeReport> {
  const { encoded, file: _, ...rest } = await rewriteCheckpoint(source, folder, options, 'q8');
  return { quantized: encoded, ...rest };
}
