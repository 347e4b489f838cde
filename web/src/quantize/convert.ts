// convertCheckpoint(): writes a checkpoint of any format as safetensors (Node). The values do not change.

import { type WeightsOptions, weightsWish } from '../sources/onnx_files.js';
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint } from './rewrite_checkpoint.js';

/** `weights`, `dtype`, `subfolder` and `model_file_name` choose the file to read, as the options of pipeline() do. */
export type ConvertOptions = RewriteOptions & WeightsOptions;

/** What was written. */
export interface ConvertReport {
  /** Tensors of the result. */
  tensors: number;
  /** Bytes of the weights. */
  bytes: number;
  /** The file that was read, such as onnx/model_quantized.onnx; of shards, their index. */
  file: string;
}

/**
 * Writes the checkpoint of `source` to `folder` as safetensors: of use for pytorch_model.bin and ONNX files. Rows of 8-bit integers of an
 * ONNX file stay as they are, with their scales (a q8 checkpoint); its other integers become float32.
 *
 * @throws PeruseError: those of loading; 'unsupported' for an ONNX file that does not name every parameter of the encoder.
 */
export async function convertCheckpoint(source: Source, folder: string, options: ConvertOptions = {}): Promise<ConvertReport> {
  const { copied, bytesAfter, file } = await rewriteCheckpoint(source, folder, options, undefined, weightsWish(options));
  return { tensors: copied, bytes: bytesAfter, file };
}
