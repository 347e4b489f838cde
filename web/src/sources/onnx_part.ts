// Readers of what few models have are loaded on use: of .onnx files, static embeddings, Routers, and chat templates.
import { describeError, PeruseError } from '../errors.js';
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
  /** `tie_word_embeddings`: whether the decoder of a masked LM is the matrix of the token embeddings. */
  tied: boolean;
  /**
   * Returns the parameters that stay integers if the file has them so, by name. `changes` are those of OpenedOnnx. Without the function, all
   * parameters are converted to floats.
   */
  encoded?: ((tensors: readonly ParameterInfo[], changes: ConfigChanges) => IntegerParameters) | undefined;
  signal: AbortSignal;
  /** Receives the number of each byte range read, from the file and its external data. */
  report(bytes: number): void;
}

/** Fields of config.json that the weights need to be different. */
export interface ConfigChanges {
  /** The file has DeBERTa's position keys and queries instead of rel_embeddings. */
  peruse_position_tables?: true;
  /** The file stores the token embeddings and the decoder of a masked LM differently, for example with other integers. */
  tie_word_embeddings?: false;
}

/** The weights as bytes of a safetensors file. */
export interface OpenedOnnx {
  size: number;
  /** Whether some weights are integers with scales. */
  quantized: boolean;
  conflicts: readonly string[];
  changes: ConfigChanges;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Static embeddings: config.json of model2vec, or the modules of sentence-transformers. */
export interface StaticKind {
  config?: Record<string, unknown>;
  modules?: { folder: string; type: string }[];
}

export interface OnnxPart {
  openOnnx(request: OnnxRequest): Promise<OpenedOnnx>;
  /** See chat_template.ts. */
  pairTemplate(template: string, format: string | undefined, names: Readonly<Record<string, string>>): object;
  openStatic(folder: ModelFolder, kind: StaticKind, signal: AbortSignal): Promise<ModelFolder>;
  /** See routes.ts. */
  openRoute(folder: ModelFolder, route: string | undefined, signal: AbortSignal): Promise<ModelFolder | undefined>;
}

export type ImportOnnx = () => Promise<OnnxPart>;

export async function loadOnnxPart(importOnnx: ImportOnnx | undefined, name: string): Promise<OnnxPart> {
  try {
    const part = await importOnnx?.();
    if (!part?.openOnnx) throw new Error("'peruse/inline' has none");
    return part;
  } catch (error) {
    throw new PeruseError('unsupported', `${name} needs the reader of ONNX files, which could not be loaded: ${describeError(error)}.`, {
      cause: error,
    });
  }
}
