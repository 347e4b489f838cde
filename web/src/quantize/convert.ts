import { type WeightsOptions, weightsWish } from '../sources/onnx_files.js';
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint, writeModel } from './rewrite_checkpoint.js';

/** `weights`, `dtype`, `subfolder` and `model_file_name` choose the file to read, as in pipeline(). */
export type ConvertOptions = RewriteOptions & WeightsOptions;

/** Report of convertCheckpoint(). */
export interface ConvertReport {
  tensors: number;
  /** Bytes of the weights. */
  bytes: number;
  /** The file that was read, for example onnx/model_quantized.onnx, or the index of shards. */
  file: string;
}

/**
 * Writes the checkpoint of `source` to `folder` as safetensors, for example a pytorch_model.bin or an ONNX file. Values do not change: int8
 * rows of an ONNX file stay int8 with scales (a q8 checkpoint); other integers become float32.
 *
 * @throws PeruseError, 'unsupported' for an ONNX file without names for all parameters of the encoder.
 */
export async function convertCheckpoint(source: Source, folder: string, options: ConvertOptions = {}): Promise<ConvertReport> {
  const wish = weightsWish(options);
  const { copied, bytesAfter, file } = await writeModel(source, folder, options, (staged) =>
    rewriteCheckpoint(source, staged, options, undefined, wish),
  );
  return { tensors: copied, bytes: bytesAfter, file };
}
