import { PeruseError, show } from '../errors.js';
import { textOf } from './json.js';
import { findWeights, notFound } from './model_files.js';
import { refusedType } from './onnx_families.js';
import { lookAt, type MissingFile, type ModelFolder } from './source.js';

/** Suffixes of file names by precision, as in transformers.js. */
const kSuffixes = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const;
export type OnnxDtype = keyof typeof kSuffixes;
export const kOnnxDtypes = Object.keys(kSuffixes) as OnnxDtype[];

/** Order in which files are tried if no precision is requested, as in transformers.js on the CPU. */
const kByDefault: readonly OnnxDtype[] = ['q8', 'fp32', 'int8', 'uint8', 'fp16', 'q4f16', 'q4', 'bnb4'];
const kOnlyOnnx: readonly OnnxDtype[] = ['int8', 'uint8', 'q4f16', 'bnb4'];
/** Precisions whose ONNX file may be smaller than the safetensors. */
const kSmaller: readonly OnnxDtype[] = ['fp16', 'q8', 'q4'];

export interface WeightsWish {
  weights: 'auto' | 'safetensors' | 'onnx';
  dtype: 'auto' | OnnxDtype;
  subfolder: string;
  modelFileName: string;
}

export const kUsualWeights: WeightsWish = { weights: 'auto', dtype: 'auto', subfolder: 'onnx', modelFileName: 'model' };

/** Options that choose a weights file, by the names of transformers.js. */
export interface WeightsOptions {
  weights?: WeightsWish['weights'] | undefined;
  dtype?: WeightsWish['dtype'] | undefined;
  subfolder?: string | undefined;
  model_file_name?: string | undefined;
}

export function weightsWish({ weights = 'auto', dtype = 'auto', subfolder, model_file_name }: WeightsOptions): WeightsWish {
  if (!['auto', 'safetensors', 'onnx'].includes(weights)) {
    throw new PeruseError('invalid_argument', `weights must be 'auto', 'safetensors' or 'onnx', not ${show(weights)}.`);
  }
  const wish = {
    weights,
    dtype,
    subfolder: subfolder ?? kUsualWeights.subfolder,
    modelFileName: model_file_name ?? kUsualWeights.modelFileName,
  };
  const isPath = (text: string) => /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(text);
  if (wish.subfolder !== '' && !isPath(wish.subfolder)) {
    throw new PeruseError('invalid_argument', `subfolder must be a folder within the model's, such as 'onnx', not ${show(subfolder)}.`);
  }
  if (!isPath(wish.modelFileName)) {
    throw new PeruseError('invalid_argument', `model_file_name must be a file's name without '.onnx', not ${show(model_file_name)}.`);
  }
  if (weights === 'safetensors' && !['auto', 'fp32', 'fp16', 'q8', 'q4'].includes(dtype)) {
    throw new PeruseError('invalid_argument', `dtype ${show(dtype)} exists only as an ONNX file: omit weights: 'safetensors'.`);
  }
  return wish;
}

export interface OnnxChoice {
  name: string;
  dtype: OnnxDtype;
  size: number;
  version: string | undefined;
}

type Folder = Pick<ModelFolder, 'open' | 'look'>;

/** Whether an ONNX file may be loaded although other weights exist. */
export function mayPreferOnnx({ weights, dtype }: WeightsWish): boolean {
  return weights === 'onnx' || (weights === 'auto' && dtype !== 'auto' && [...kOnlyOnnx, ...kSmaller].includes(dtype));
}

/** Returns the .onnx file to load, or undefined if other weights are to be loaded or nothing exists. */
export async function chooseOnnx(
  folder: Folder,
  wish: WeightsWish,
  config: Record<string, unknown>,
  signal: AbortSignal,
): Promise<OnnxChoice | undefined> {
  const { weights, dtype } = wish;
  if (weights === 'safetensors') return undefined;
  if (weights === 'onnx' || (dtype !== 'auto' && kOnlyOnnx.includes(dtype))) {
    const missing: MissingFile[] = [];
    const found = await findOnnx(folder, wish, signal, missing);
    if (found) return found;
    throw notFound(missing);
  }
  const others = await findWeights(folder, signal);
  if (!others.found) return findOnnx(folder, wish, signal);
  await others.file.close();
  const { size } = others.file;
  if (!mayPreferOnnx(wish) || (config.quantization_config ?? null) !== null || others.sharded) return undefined;
  if (refusedType(textOf(config.model_type))) return undefined;
  const found = await findOnnx(folder, wish, signal);
  return found && found.size > 0 && found.size < size ? found : undefined;
}

/** Returns the first .onnx file of the requested precision that exists. */
export async function findOnnx(
  folder: Folder,
  { dtype, subfolder, modelFileName }: WeightsWish,
  signal: AbortSignal,
  missing: MissingFile[] = [],
): Promise<OnnxChoice | undefined> {
  for (const one of dtype === 'auto' ? kByDefault : [dtype]) {
    const name = onnxName(one, { subfolder, modelFileName });
    const file = await lookAt(folder, name, signal); // a request for the file would transfer its beginning for nothing
    if (file.found) return { name, dtype: one, version: file.version, size: file.size };
    missing.push(file);
  }
  return undefined;
}

export function onnxName(dtype: OnnxDtype, { subfolder, modelFileName }: Pick<WeightsWish, 'subfolder' | 'modelFileName'>): string {
  return `${subfolder === '' ? '' : `${subfolder}/`}${modelFileName}${kSuffixes[dtype]}.onnx`;
}

/** Returns the engine's precision for an ONNX file. Its layers of 4 bits are stored as 8 bits. */
export function engineDtype(dtype: OnnxDtype): 'f32' | 'f16' | 'q8' {
  return dtype === 'fp32' ? 'f32' : dtype === 'fp16' ? 'f16' : 'q8';
}
