// Chooses the weights of a model that are loaded: a quantised copy, an ONNX file, or safetensors and PyTorch files.

import { hasIntegers, isQuantizedForm, kSmallestForm, kUsualForm, type QuantizedForm } from '../../precisions.js';
import type { Job, Located } from '../../sources/checkpoint.js';
import { parseObject } from '../../sources/json.js';
import { explainMissing, type FoundWeights, findWeights, kForms } from '../../sources/model_files.js';
import { chooseOnnx, findOnly, firstOnnx, kUsualWeights, mayPreferOnnx, type OnnxChoice } from '../../sources/onnx_files.js';
import type { ModelFile } from '../../sources/source.js';
import type { LoadRequest } from '../load_request.js';

/** At most one of `onnx`, `copy` and `found` is there; none of them if the weights were only named or are not chosen yet. */
export interface ChosenWeights {
  onnx?: OnnxChoice | undefined;
  /** Quantised weights that an earlier load has stored. */
  copy?: ModelFile;
  found?: FoundWeights;
  file?: string | undefined;
  /** File and version of its bytes, by which another load finds the same weights. */
  version?: string | undefined;
}

/** Chooses the weights before an engine starts, if the choice may lead to a loaded engine, an ONNX file or a copy. */
export async function chooseEarly(request: LoadRequest, located: Promise<Located<Job>>, mayShare: unknown): Promise<ChosenWeights> {
  const wish = request.weights ?? kUsualWeights;
  const copies = formOf(request);
  if (!mayShare && !mayPreferOnnx(wish) && !copies) return {};
  const { job, config } = await located;
  const { folder, signal } = job;
  const copy = copies && wish.weights !== 'onnx' ? await folder.openInForm?.(kForms[0], copies, signal) : undefined;
  if (copy) return { copy, file: kForms[0], version: versionOf({ name: kForms[0], file: copy }) };
  const first = await firstOnnx(job, wish);
  if (first) return ofOnnx(first);
  const chosen = mayPreferOnnx(wish) ? await chooseOnnx(folder, wish, parseObject(config.name, config.content), signal) : undefined;
  if (chosen) return ofOnnx(chosen);
  const found = await findWeights(folder, signal);
  if (!found.found) return wish.weights === 'auto' ? ofOnnx(await findOnly(folder, wish, signal)) : {};
  await found.file.close();
  return { file: found.name, version: versionOf(found) };
}

/** Opens the weights, unless they were opened early. Without other weights, finds an ONNX file. */
export async function weightsToRead(
  { weights: wish = kUsualWeights }: LoadRequest,
  early: ChosenWeights,
  job: Job,
): Promise<ChosenWeights> {
  if (early.onnx || early.copy) return early;
  const { folder, signal } = job;
  const first = await firstOnnx(job, wish);
  if (first) return ofOnnx(first);
  const found = await findWeights(folder, signal);
  if (found.found) return { found, file: found.name, version: versionOf(found) };
  const onnx = wish.weights === 'auto' ? await findOnly(folder, wish, signal) : undefined;
  if (!onnx) throw await explainMissing(folder, found.missing, signal);
  return ofOnnx(onnx);
}

/** Weights of 8 bits or fewer in an ONNX file stay as they are. */
export function precisionFor({ dtype }: LoadRequest, { onnx }: ChosenWeights): string {
  return onnx && (dtype === 'auto' || dtype === kSmallestForm) && hasIntegers(onnx.dtype) ? kUsualForm : dtype;
}

/** The form in which weights are stored as they are quantised, if they are. An adapter is merged into floats. */
export function formOf({ dtype, adapter, keepSource }: LoadRequest): QuantizedForm | undefined {
  return isQuantizedForm(dtype) && adapter === undefined && keepSource !== true ? dtype : undefined;
}

function ofOnnx(onnx: OnnxChoice | undefined): ChosenWeights {
  return onnx ? { onnx, file: onnx.name, version: onnx.version && `${onnx.name} ${onnx.version}` } : {};
}

function versionOf({ name, file }: Pick<FoundWeights, 'name' | 'file'>): string | undefined {
  return file.version === undefined ? undefined : `${name} ${file.version}`;
}
