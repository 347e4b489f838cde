// convertCheckpoint(): writes a checkpoint of any format as safetensors (Node). The values do not change.
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint } from './rewrite_checkpoint.js';

export type ConvertOptions = RewriteOptions;

/** What was written. */
export interface ConvertReport {
  /** Tensors of the result. */
  tensors: number;
  /** Bytes of the weights. */
  bytes: number;
}

/**
 * Writes the checkpoint of `source` to `folder` as safetensors: of use for pytorch_model.bin.
 *
 * @throws PeruseError: those of loading.
 */
export async function convertCheckpoint(source: Source, folder: string, options: ConvertOptions = {}): Promise<ConvertReport> {
  const { copied, bytesAfter } = await rewriteCheckpoint(source, folder, options);
  return { tensors: copied, bytes: bytesAfter };
}
