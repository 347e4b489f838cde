// quantizeCheckpoint(): writes a q8 or q4 checkpoint in Node. Its results are bit-identical to those of the original loaded with that dtype.
// docs/precision.md describes both.
import { PeruseError, show } from '../errors.js';
import { isQuantizedForm, kUsualForm, type QuantizedForm } from '../precisions.js';
import { type WeightsOptions, weightsWish } from '../sources/onnx_files.js';
import type { Source } from '../sources/source.js';
import { type RewriteOptions, rewriteCheckpoint, writeModel } from './rewrite_checkpoint.js';

export interface QuantizeOptions extends RewriteOptions {
  /** 'q8', the default, or 'q4': 4 bits for token embeddings and linear layers with at least 1,024 inputs and outputs. */
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
 * embeddings and wide layers of 4 bits (dtype 'q4'). A q8 or q4 checkpoint is widened to float32 first.
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
