// quantizeCheckpoint(): writes a q8 checkpoint (Node). docs/precision.md describes q8 and its accuracy.
//
// The engine chooses the tensors and encodes their rows. The result loads like any checkpoint, bit-identical to quantising the original
// while loading.
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint } from './rewrite_checkpoint.js';

export type QuantizeOptions = RewriteOptions;

/** What was written. */
export interface QuantizeReport {
  /** Tensors that became int8. */
  quantized: number;
  /** Tensors that were copied. */
  copied: number;
  /** Bytes of the weights before. */
  bytesBefore: number;
  /** Bytes of the weights after. */
  bytesAfter: number;
}

/**
 * Writes the checkpoint of `source` to `folder` with linear layers and word embeddings as 8-bit integers (dtype 'q8').
 *
 * @throws PeruseError: those of loading, and 'unsupported' for a checkpoint that is quantised already.
 */
export async function quantizeCheckpoint(source: Source, folder: string, options: QuantizeOptions = {}): Promise<QuantizeReport> {
  const { encoded, file: _, ...rest } = await rewriteCheckpoint(source, folder, options, 'q8');
  return { quantized: encoded, ...rest };
}
