// convertCheckpoint(): writes a checkpoint as safetensors (Node), whatever it came as. Every number stays as it is.
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
  const same = { config: (config: object) => config, change: () => undefined };
  const { copied, bytesAfter } = await rewriteCheckpoint(source, folder, options, same);
  return { tensors: copied, bytes: bytesAfter };
}
