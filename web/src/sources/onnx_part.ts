// Types of the .onnx reader, which is loaded only when such a file is opened.
import type { ModelFolder } from './source.js';

export interface ParameterInfo {
  name: string;
  dtype: string;
  shape: number[];
}

/** 'rows' may stay int8 by row or 4 bits in groups of 32; 'words', token embeddings, only int8. */
export type IntegerParameters = ReadonlyMap<string, 'rows' | 'words'>;

export interface OnnxRequest {
  folder: Pick<ModelFolder, 'open'>;
  /** The file within the folder, for example "onnx/model.onnx". */
  name: string;
  modelType: string;
  /** Returns the parameters that stay integers if the file has them so, by name. Without it, all are converted to floats. */
  encoded?: ((tensors: readonly ParameterInfo[]) => IntegerParameters) | undefined;
  signal: AbortSignal;
  /** Receives the number of each byte range read, from the file and its external data. */
  report(bytes: number): void;
}

/** The weights as bytes of a safetensors file. */
export interface OpenedOnnx {
  size: number;
  /** Whether some weights are integers with scales. */
  quantized: boolean;
  conflicts: readonly string[];
  /** Whether config.json needs `peruse_position_tables`: the file has DeBERTa's position keys and queries instead of rel_embeddings. */
  hasPositionTables: boolean;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Static embeddings: config.json of model2vec, or the modules of sentence-transformers. */
export interface StaticKind {
  config?: Record<string, unknown>;
  modules?: { folder: string; type: string }[];
}

export interface OnnxPart {
  openOnnx(request: OnnxRequest): Promise<OpenedOnnx>;
  openStatic(folder: ModelFolder, kind: StaticKind, signal: AbortSignal): Promise<ModelFolder>;
}

export type ImportOnnx = () => Promise<OnnxPart>;
