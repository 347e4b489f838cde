// quantizeCheckpoint(): writes a q8 checkpoint (Node). What it is and how exact: docs/precision.md.
//
// A row at a time becomes integers and a scale. The result loads like any checkpoint, and gives the same bits as quantising the
// original while loading.
import type { TensorInfo } from '../engine/weights_reader.js';
import { PeruseError } from '../errors.js';
import type { Source } from '../sources/source.js';
import { isQuantizable, QuantizedTensor } from './quantize_tensor.js';
import { type Change, type RewriteOptions, rewriteCheckpoint } from './rewrite_checkpoint.js';

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

/** How config.json says what the weights are; core/families/config.cc reads it. */
const kNote = { quant_method: 'peruse-q8', bits: 8, scheme: 'symmetric int8, <name>_scale: one float32 for each row' };

/**
 * Writes the checkpoint of `source` to `folder` with linear layers and word embeddings as 8-bit integers (dtype 'q8').
 *
 * @throws PeruseError: those of loading, and 'unsupported' for a checkpoint that is quantised already.
 */
export async function quantizeCheckpoint(source: Source, folder: string, options: QuantizeOptions = {}): Promise<QuantizeReport> {
  const { changed, ...rest } = await rewriteCheckpoint(source, folder, options, { config: noted, change: quantized });
  return { quantized: changed, ...rest };
}

function noted(config: Record<string, unknown>, where: string): object {
  if ('quantization_config' in config) {
    throw new PeruseError('unsupported', `${where} has a quantization_config: the checkpoint is quantised already.`);
  }
  return { ...config, quantization_config: kNote };
}

function quantized(tensor: TensorInfo): Change | undefined {
  if (!isQuantizable(tensor)) return undefined;
  const values = { name: tensor.name, dtype: 'I8', shape: tensor.shape };
  const scales = { name: `${tensor.name}_scale`, dtype: 'F32', shape: [tensor.shape[0]!] };
  return {
    tensors: [values, scales],
    writer: (append) => {
      const rows = new QuantizedTensor(tensor, (bytes) => append(0, bytes));
      return { push: (bytes) => rows.push(bytes), end: () => append(1, new Uint8Array(rows.scales.buffer)) };
    },
  };
}
