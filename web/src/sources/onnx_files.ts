import { PeruseError, show } from '../errors.js';
import { floatsFor, isOnlyOnnx, isSmaller, kOnnxOrder, type OnnxDtype, onnxSuffix } from '../precisions.js';
import { lookAt } from './folders/look.js';
import { textOf } from './json.js';
import { findWeights, notFound } from './model_files.js';
import { refusedType } from './onnx_families.js';
import type { MissingFile, ModelFolder } from './source.js';

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
  if (weights === 'safetensors' && dtype !== 'auto' && isOnlyOnnx(dtype)) {
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

/** Whether a repository was made for transformers.js: such repositories have ONNX files and no other weights. */
export function hasOnlyOnnx(name: string): boolean {
  return /^(Xenova|onnx-community)\/|-ONNX\/?$/.test(name);
}

/** If the repository has no other weights according to its name, returns its .onnx file, before a server is asked for others in vain. */
export async function firstOnnx(
  { name, folder, signal }: { name: string; folder: Folder; signal: AbortSignal },
  wish: WeightsWish,
): Promise<OnnxChoice | undefined> {
  return wish.weights === 'auto' && hasOnlyOnnx(name) ? findOnly(folder, wish, signal) : undefined;
}

/** Whether an ONNX file may be loaded although other weights exist. */
export function mayPreferOnnx({ weights, dtype }: WeightsWish): boolean {
  return weights === 'onnx' || (weights === 'auto' && dtype !== 'auto' && isSmaller(dtype));
}

/**
 * Returns the .onnx file to load, or undefined if other weights are to be loaded or nothing exists. Unless it must have the requested precision
 * (`exact`), it may be one of floats, which the engine converts.
 */
export async function chooseOnnx(
  folder: Folder,
  wish: WeightsWish,
  config: Record<string, unknown>,
  signal: AbortSignal,
  exact = false,
): Promise<OnnxChoice | undefined> {
  const { weights, dtype } = wish;
  if (weights === 'safetensors') return undefined;
  if (weights === 'onnx' || (dtype !== 'auto' && isOnlyOnnx(dtype))) {
    const missing: MissingFile[] = [];
    const found = (await findOnnx(folder, wish, signal, missing)) ?? (exact ? undefined : await findFloats(folder, wish, signal));
    if (found) return found;
    throw notFound(missing);
  }
  const others = await findWeights(folder, signal);
  if (!others.found) return exact ? findOnnx(folder, wish, signal) : findOnly(folder, wish, signal);
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
  for (const one of dtype === 'auto' ? kOnnxOrder : [dtype]) {
    const name = onnxName(one, { subfolder, modelFileName });
    const file = await lookAt(folder, name, signal); // a request for the file would transfer its beginning for nothing
    if (file.found) return { name, dtype: one, version: file.version, size: file.size };
    missing.push(file);
  }
  return undefined;
}

/** Returns the .onnx file to load if there are no other weights. */
export async function findOnly(folder: Folder, wish: WeightsWish, signal: AbortSignal): Promise<OnnxChoice | undefined> {
  return (await findOnnx(folder, wish, signal)) ?? findFloats(folder, wish, signal);
}

async function findFloats(folder: Folder, wish: WeightsWish, signal: AbortSignal): Promise<OnnxChoice | undefined> {
  for (const dtype of floatsFor(wish.dtype)) {
    const found = await findOnnx(folder, { ...wish, dtype }, signal);
    if (found) return found;
  }
  return undefined;
}

export function onnxName(dtype: OnnxDtype, { subfolder, modelFileName }: Pick<WeightsWish, 'subfolder' | 'modelFileName'>): string {
  return `${subfolder === '' ? '' : `${subfolder}/`}${modelFileName}${onnxSuffix(dtype)}.onnx`;
}
