// The part of the package that reads .onnx files, as its users see it. It is loaded only where such a file is opened.
import type { ModelFolder } from './source.js';

/** A tensor as the engine knows it. */
export interface ParameterInfo {
  name: string;
  dtype: string;
  shape: number[];
}

export interface OnnxRequest {
  folder: Pick<ModelFolder, 'open'>;
  /** The file within the folder, such as "onnx/model.onnx". */
  name: string;
  /** model_type of config.json. */
  modelType: string;
  /** Returns true for parameters that stay rows of 8-bit integers if the file has them. Without it all become floats. */
  encoded?: ((tensor: ParameterInfo) => boolean) | undefined;
  signal: AbortSignal;
  /** Told of the bytes of the file (and of its external data), each once. */
  report(bytes: number): void;
}

/** The weights as the bytes of a safetensors file. */
export interface OpenedOnnx {
  size: number;
  /** Some of it are rows of 8-bit integers, with their scales. */
  quantized: boolean;
  /** Why parameters were left out. */
  conflicts: readonly string[];
  chunks(): AsyncIterable<Uint8Array>;
}

export interface OnnxPart {
  openOnnx(request: OnnxRequest): Promise<OpenedOnnx>;
}

/** Loads the part. */
export type ImportOnnx = () => Promise<OnnxPart>;
