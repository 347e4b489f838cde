// Loads a model:
//   1. The engine's build starts, while config.json and the tokenizer's files are read.
//   2. The engine opens these files, and rejects an unsupported model before its weights are downloaded.
//   3. The weights go to the engine in chunks as they arrive; JavaScript never holds the whole file.

import { onAbort, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { feedShards, naming } from '../sources/feed_shards.js';
import { parseObject } from '../sources/json.js';
import { explainMissing, type FoundWeights, findWeights, kAdapterWeights, kForms, notFound } from '../sources/model_files.js';
import { type Job, locateForTask, readAdapterConfigs, readTexts } from '../sources/model_texts.js';
import {
  chooseOnnx,
  engineDtype,
  findOnnx,
  kUsualWeights,
  mayPreferOnnx,
  type OnnxChoice,
  type WeightsWish,
} from '../sources/onnx_files.js';
import { type FolderParts, openFolder } from '../sources/open_folder.js';
import { feedFile, type Located, type NamedFile, quietly } from '../sources/read_files.js';
import { firstOf, type MissingFile, type ModelFile, type SourceSpec } from '../sources/source.js';
import type { Engine, WeightReport } from './engine.js';
import { feedOnnx, withStatic } from './feed_onnx.js';
import type { LoadRequest } from './load_request.js';
import { QuantizedCopy, type QuantizedForm } from './quantized_copy.js';
import type { DeviceChoice } from './reports.js';

export interface LoadReport {
  bytes: number;
  milliseconds: number;
  weights: WeightReport;
  deviceChoice: DeviceChoice;
  file: string;
  dtype: WeightReport['dtype'];
  threads: number;
  notices: string[];
  shared: boolean;
}

/** A checkpoint. Two tasks of the same checkpoint can share weights. */
export interface Checkpoint {
  config: Uint8Array;
  weights: string | undefined;
}

export interface LoadParts {
  folders: FolderParts;
  startEngine: (config: Promise<Uint8Array>) => Promise<Engine>;
  findLoaded?: ((checkpoint: Checkpoint) => Engine | undefined) | undefined;
  report: ProgressCallback;
  signal: AbortSignal;
}

/** Added to errors about a model with its own Python code. */
const kOwnCode =
  'config.json names Python code (auto_map), which Peruse does not run. The model is computed by its model_type, which may differ from that code.';

function hasOwnCode({ name, content }: NamedFile): boolean {
  return new TextDecoder().decode(content).includes('"auto_map"') && (parseObject(name, content).auto_map ?? null) !== null;
}

export interface Loaded {
  engine: Engine;
  report: LoadReport;
  checkpoint: Checkpoint;
}

/** Thrown if the folder has only ONNX files: the engine must then be opened differently. */
class OnlyOnnx extends Error {}

export async function loadModel(request: LoadRequest, parts: LoadParts): Promise<Loaded> {
  throwIfAborted(parts.signal);
  const stop = new AbortController();
  const unfollow = onAbort(parts.signal, () => stop.abort(parts.signal.reason));
  try {
    return await loadEither(request, { ...parts, signal: stop.signal });
  } catch (error) {
    stop.abort();
    throw error;
  } finally {
    unfollow();
  }
}

async function loadEither(request: LoadRequest, parts: LoadParts): Promise<Loaded> {
  try {
    return await loadWeights(request, parts);
  } catch (error) {
    if (!(error instanceof OnlyOnnx)) throw error;
    return loadWeights({ ...request, weights: { ...(request.weights ?? kUsualWeights), weights: 'onnx' } }, parts);
  }
}

async function loadWeights(request: LoadRequest, parts: LoadParts): Promise<Loaded> {
  const start = performance.now();
  const notices = new Set<string>();
  const { report, signal } = parts;
  const opened = await openFolder(request.source, { ...parts.folders, notice: (sentence) => notices.add(sentence) });
  const folder = request.task === 'feature-extraction' ? withStatic(opened, parts.folders, request.source.name) : opened;
  const job: Job = { ...quietly(request.source.name, folder, signal), task: request.task, report };
  const beside = async (source: SourceSpec | undefined) =>
    source && (await openFolder(source, { ...parts.folders, notice: (sentence) => notices.add(sentence) }));
  const adapterFolder = await beside(request.adapter);
  const adapter = adapterFolder && { ...job, name: request.adapter!.name, folder: adapterFolder };
  const encoder = await beside(request.encoder);
  const labels = await beside(request.labelsEncoder);
  const leading = request.adapterLeads && adapterFolder ? firstOf(adapterFolder, folder) : folder;
  const small: Job = { ...job, labels, folder: encoder ? firstOf(leading, encoder) : leading };
  const located = locateForTask(small);
  const configBytes = located.then(({ config }) => config.content);
  configBytes.catch(() => {});
  const wish = request.weights ?? kUsualWeights;
  const copies = formOf(request);
  const chosen = parts.findLoaded || mayPreferOnnx(wish) || copies ? await chooseWeights(wish, await located, copies) : {};
  const { onnx } = chosen;
  const loaded = chosen.file === undefined ? undefined : parts.findLoaded?.({ config: await configBytes, weights: chosen.version });
  const starting = loaded ? Promise.resolve(loaded.beside()) : parts.startEngine(configBytes);
  try {
    const [texts, adapterConfigs, engine] = await Promise.all([
      readTexts(small, located),
      adapter ? readAdapterConfigs(adapter) : [],
      starting,
    ]);
    throwIfAborted(signal);
    let bytes = 0;
    for (const { name, content } of [...texts, ...adapterConfigs]) {
      engine.addFile(name, content);
      bytes += content.length;
    }
    const { deviceChoice } = engine;
    const { task, id2label, enhancedMaskDecoder } = request;
    const { dtype: asked } = request;
    const dtype = onnx && (asked === 'auto' || asked === 'q4') && engineDtype(onnx.dtype) === 'q8' ? 'q8' : asked;
    await engine.open({ task, dtype, id2label, enhanced_mask_decoder: enhancedMaskDecoder });
    if (adapter) bytes += await feedAdapter(adapter, engine);
    const { job: found } = await located;
    const own = found === small ? job : found;
    let { version, file = '' } = chosen;
    if (!loaded || engine.needsWeights()) {
      const count = (more: number) => {
        bytes += more;
      };
      if (onnx) count(await feedOnnx(own, engine, onnx, (await located).config, parts.folders.importOnnx));
      else if (chosen.copy) count(await feedFile(own, file, chosen.copy, (chunk) => engine.feedWeights(chunk)));
      else ({ version, file } = await feedWeights(own, engine, wish, copies && { config: await configBytes, form: copies }, count));
      if (loaded && version !== chosen.version) throw new PeruseError('malformed_file', 'The weights changed while they were loaded.');
    }
    const weights = await engine.finishWeights();
    if (hasOwnCode((await located).config)) notices.add(kOwnCode);
    const milliseconds = performance.now() - start;
    const report = {
      bytes,
      milliseconds,
      weights,
      deviceChoice,
      file,
      dtype: weights.dtype,
      threads: engine.threads,
      notices: [...notices],
      shared: loaded !== undefined,
    };
    return { engine, report, checkpoint: { config: await configBytes, weights: version } };
  } catch (error) {
    starting.then((started) => started.dispose()).catch(() => {}); // the caller gets the error of the load; this only frees memory
    throw error;
  }
}

/** The form in which weights are stored as they are quantised, if they are. An adapter is merged into floats. */
function formOf({ dtype, adapter, keepSource }: LoadRequest): QuantizedForm | undefined {
  return (dtype === 'q8' || dtype === 'q4') && adapter === undefined && keepSource !== true ? dtype : undefined;
}

interface ChosenWeights {
  onnx?: OnnxChoice | undefined;
  file?: string | undefined;
  version?: string | undefined;
  /** Quantised weights that an earlier load has stored, if any. */
  copy?: ModelFile;
}

async function chooseWeights(
  wish: WeightsWish,
  { job: { folder, signal }, config }: Located<Job>,
  copies: QuantizedForm | undefined,
): Promise<ChosenWeights> {
  const copy = copies && wish.weights !== 'onnx' ? await folder.openInForm?.(kForms[0], copies, signal) : undefined;
  if (copy) return { copy, file: kForms[0], version: versionOf({ name: kForms[0], file: copy, sharded: false }) };
  const chosen = mayPreferOnnx(wish) ? await chooseOnnx(folder, wish, parseObject(config.name, config.content), signal) : undefined;
  if (chosen) return ofOnnx(chosen);
  const found = await findWeights(folder, signal);
  if (!found.found) return wish.weights === 'auto' ? ofOnnx(await findOnnx(folder, wish, signal)) : {};
  await found.file.close();
  return { file: found.name, version: versionOf(found) };
}

function ofOnnx(onnx: OnnxChoice | undefined): ChosenWeights {
  return onnx ? { onnx, file: onnx.name, version: onnx.version && `${onnx.name} ${onnx.version}` } : {};
}

function versionOf({ name, file, sharded }: Pick<FoundWeights, 'name' | 'file' | 'sharded'>): string | undefined {
  return sharded || file.version === undefined ? undefined : `${name} ${file.version}`;
}

async function feedAdapter(job: Job, engine: Engine): Promise<number> {
  const missing: MissingFile[] = [];
  for (const name of kAdapterWeights) {
    const file = await job.folder.open(name, job.signal);
    if (!file.found) {
      missing.push(file);
      continue;
    }
    const bytes = await naming(name, () => feedFile(job, name, file, (chunk) => engine.feedAdapter(chunk)));
    await naming(name, async () => engine.finishAdapter());
    return bytes;
  }
  throw notFound(missing);
}

async function feedWeights(
  job: Job,
  engine: Engine,
  wish: WeightsWish,
  /** If weights are to be stored as they are quantised. */
  quantized: { config: Uint8Array; form: QuantizedForm } | undefined,
  count: (bytes: number) => void,
): Promise<{ version: string | undefined; file: string }> {
  const weights = await findWeights(job.folder, job.signal);
  if (!weights.found && wish.weights === 'auto' && (await findOnnx(job.folder, wish, job.signal))) throw new OnlyOnnx();
  if (!weights.found) throw await explainMissing(job.folder, weights.missing, job.signal);
  if (weights.sharded) {
    count(await feedShards(job, engine, weights));
    return { version: undefined, file: weights.name };
  }
  const { name } = weights;
  const form = quantized && name === kForms[0] ? weights.file.inForm?.(quantized.form) : undefined;
  const copy = form && QuantizedCopy.start(engine, name, quantized!.config, quantized!.form, form);
  if (!copy) count(await feedFile(job, name, weights.file, (chunk) => engine.feedWeights(chunk)));
  else count(await copy.storing(() => feedFile(job, name, { ...weights.file, chunks: form.chunks }, (chunk) => copy.feed(chunk))));
  return { version: versionOf(weights), file: weights.name };
}
