// Loads a model:
//   1. The engine's build starts, while config.json and the tokenizer's files are read.
//   2. The engine opens these files, and rejects an unsupported model before its weights are downloaded.
//   3. The weights go to the engine in chunks as they arrive; JavaScript never holds the whole file.

import { describeError, onAbort, PeruseError, throwIfAborted } from '../../errors.js';
import type { QuantizedForm } from '../../precisions.js';
import { neverBack, type ProgressCallback } from '../../progress.js';
import { type Job, locateForTask, locateModel, readAdapterConfigs, readTexts } from '../../sources/checkpoint.js';
import type { FileAccess } from '../../sources/file_access.js';
import { healing } from '../../sources/folders/healing.js';
import { firstOf } from '../../sources/folders/look.js';
import { parseObject, textOf } from '../../sources/json.js';
import { labelReadingOf } from '../../sources/label_models.js';
import { type FoundWeights, kAdapterWeights, kForms, notFound } from '../../sources/model_files.js';
import { openCheckpoint, openWithStatic } from '../../sources/open_checkpoint.js';
import { readPairTemplate } from '../../sources/pair_template.js';
import { feedFile, type NamedFile } from '../../sources/read_files.js';
import type { MissingFile, SourceSpec } from '../../sources/source.js';
import { feedWeights, naming } from '../../sources/weights/feed_weights.js';
import { type EngineTask, kTaskOfReading, taskOfClasses } from '../../tasks/definition.js';
import type { EngineRequest } from '../cpu_engine.js';
import type { Engine, WeightReport } from '../engine.js';
import type { EngineGroup, FindLoaded, LoadedCheckpoint } from '../engine_group.js';
import type { DeviceChoice, LoadRequest } from '../load_request.js';
import { openOnnxFeed } from './feed_onnx.js';
import { QuantizedCopy } from './quantized_copy.js';
import { type ChosenWeights, chooseEarly, formOf, precisionFor, weightsToRead } from './weights_choice.js';

export interface LoadReport {
  /** The engine's name of the task. */
  task: string;
  bytes: number;
  milliseconds: number;
  weights: WeightReport;
  deviceChoice: DeviceChoice;
  file: string;
  dtype: WeightReport['dtype'];
  threads: number;
  notices: string[];
  shared: boolean;
  /** The content of config.json. */
  config: Record<string, unknown>;
}

export interface LoadContext {
  files: FileAccess;
  startEngine: (request: Omit<EngineRequest, 'builds'>) => Promise<Engine>;
  /** The engines whose weights the model may share. */
  group: EngineGroup;
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
  checkpoint: LoadedCheckpoint;
}

/** If `device: 'auto'` chose a GPU that cannot take the model, loads it on the CPU. */
export async function loadModel(request: LoadRequest, context: LoadContext): Promise<Loaded> {
  let chosen: DeviceChoice | undefined;
  const startEngine: LoadContext['startEngine'] = async (engineRequest) => {
    const engine = await context.startEngine(engineRequest);
    chosen = engine.deviceChoice;
    return engine;
  };
  try {
    return await loadHealing(request, { ...context, report: neverBack(context.report), startEngine });
  } catch (error) {
    if (request.device !== 'auto' || chosen?.device !== 'webgpu' || !isGpuFailure(error)) throw error;
    // loaded separately, because another task's engine is on the GPU
    const loaded = await loadHealing({ ...request, device: 'cpu', share: false }, context);
    const reason = `the CPU, because the GPU could not take the model: ${describeError(error)}`;
    return { ...loaded, report: { ...loaded.report, deviceChoice: { ...loaded.report.deviceChoice, reason } } };
  }
}

async function loadHealing(request: LoadRequest, context: LoadContext): Promise<Loaded> {
  const notices = new Set<string>();
  return healing(async (opened) => {
    const files = { ...context.files, opened, notice: (sentence: string) => void notices.add(sentence) };
    return loadInTurn(await withTask(request, { ...context, files }), { ...context, files }, notices);
  });
}

/** Whether a load would read the configuration and the weights of a loaded engine. */
export async function isCurrent(given: LoadRequest, context: LoadContext): Promise<boolean> {
  const request = await withTask(given, context);
  const { small } = await openFolders(request, context);
  const located = locateForTask(small);
  const { version } = await chooseEarly(request, located, true);
  return context.group.has({ config: (await located).config.content, weights: version });
}

/** A load request that has a task. */
type TaskRequest = LoadRequest & { task: EngineTask };

/** Adds the task of the model's class, unless the caller chose a task. */
async function withTask(request: LoadRequest, { files, signal }: LoadContext): Promise<TaskRequest> {
  const { task, tasks = [] } = request;
  if (task) return { ...request, task };
  const open = async (other: SourceSpec | undefined) => other && openCheckpoint(other, files, signal);
  const others = { encoder: await open(request.encoder), labels: await open(request.labelsEncoder) };
  const { config } = await locateModel(await openWithStatic(request.source, files, signal), others);
  const fields = parseObject(config.name, config.content);
  const reading = labelReadingOf(config.name, fields);
  const name = reading && kTaskOfReading[reading];
  const own = tasks.find((one) => one.name === name) ?? taskOfClasses(tasks, [fields.architectures ?? []].flat().map(textOf));
  if (own === undefined) throw new PeruseError('internal', 'The request of a load names no task.');
  return { ...request, task: own };
}

/** Whether a load may have failed because of the GPU, not of the model or the request. */
function isGpuFailure(error: unknown): boolean {
  return error instanceof PeruseError && ['gpu_lost', 'gpu_failed', 'out_of_memory', 'unsupported'].includes(error.code);
}

/** A failure stops everything that the load has begun. */
async function loadInTurn(request: TaskRequest, context: LoadContext, notices: Set<string>): Promise<Loaded> {
  const load = async (findLoaded: FindLoaded | undefined) => {
    throwIfAborted(context.signal);
    const stop = new AbortController();
    const unfollow = onAbort(context.signal, () => stop.abort(context.signal.reason));
    try {
      return await loadWeights(request, { ...context, signal: stop.signal }, notices, findLoaded);
    } catch (error) {
      stop.abort();
      throw error;
    } finally {
      unfollow();
    }
  };
  return context.group.load(load, request.share === true);
}

interface Folders {
  /** Reads the model's own folder. */
  job: Job;
  /** Reads all folders that have the model's configuration and tokenizer. */
  small: Job;
  adapter: Job | undefined;
}

async function openFolders(request: TaskRequest, context: LoadContext): Promise<Folders> {
  const { source, task } = request;
  const { files, signal } = context;
  const open = async (other: SourceSpec) => openCheckpoint(other, files, signal);
  const opened = await (task.readsStatic ? openWithStatic(source, files, signal, request.route) : open(source));
  const job: Job = { ...opened, task, pooling: request.pooling, report: context.report };
  const adapter = request.adapter && { ...job, name: request.adapter.name, folder: (await open(request.adapter)).folder };
  const encoder = request.encoder && (await open(request.encoder));
  const labels = request.labelsEncoder && (await open(request.labelsEncoder));
  const leading = request.adapterLeads && adapter ? firstOf(adapter.folder, job.folder) : job.folder;
  return { job, small: { ...job, labels: labels?.folder, folder: encoder ? firstOf(leading, encoder.folder) : leading }, adapter };
}

async function loadWeights(
  request: TaskRequest,
  context: LoadContext,
  notices: Set<string>,
  findLoaded: FindLoaded | undefined,
): Promise<Loaded> {
  const start = performance.now();
  const folders = await openFolders(request, context);
  const { job, small, adapter } = folders;
  const located = locateForTask(small);
  const configBytes = located.then(({ config }) => config.content);
  configBytes.catch(() => {});
  let chosen = await chooseEarly(request, located, findLoaded);
  const { version } = chosen;
  const loaded = chosen.file === undefined ? undefined : findLoaded?.({ config: await configBytes, weights: version });
  let starting = loaded ? Promise.resolve(loaded.fork()) : context.startEngine({ ...request, config: configBytes });
  try {
    const [read, adapterConfigs, started] = await Promise.all([
      readTexts(small, located),
      adapter ? readAdapterConfigs(adapter) : [],
      starting,
    ]);
    throwIfAborted(context.signal);
    const { job: found, config } = await located;
    const texts = [...read, ...(await readPairTemplate(small, await located, read, context.files.importOnnx))];
    let configContent = config.content;
    let engine = started;
    const open = async () => {
      const ownTexts = texts.map((file) => (file.name === config.name ? { ...file, content: configContent } : file));
      return openModel(engine, request, [...ownTexts, ...adapterConfigs], chosen, adapter);
    };
    const reopen = async () => {
      const before = engine;
      engine = before.fork();
      starting = Promise.resolve(engine);
      before.dispose();
      return open();
    };
    let bytes = await open();
    if (!loaded || engine.needsWeights()) {
      const precision = precisionFor(request, chosen);
      const own = found === small ? job : found;
      chosen = await weightsToRead(request, chosen, own);
      if (precisionFor(request, chosen) !== precision) bytes = await reopen();
      const onnx = chosen.onnx && (await openOnnxFeed(own, engine, chosen.onnx, config, context.files.importOnnx));
      if (onnx && onnx.config !== configContent) {
        configContent = onnx.config;
        bytes = await reopen();
      }
      bytes += onnx ? await onnx.feed(engine) : await feedChosen(own, engine, request, chosen, config);
      if (loaded && version !== chosen.version) throw new PeruseError('malformed_file', 'The weights changed while they were loaded.');
    }
    const { notices: warnings = [], ...weights } = await engine.finishWeights();
    if (hasOwnCode(config)) notices.add(kOwnCode);
    for (const notice of warnings) notices.add(notice);
    const report = {
      task: request.task.name,
      bytes,
      milliseconds: performance.now() - start,
      weights,
      deviceChoice: engine.deviceChoice,
      file: chosen.file ?? '',
      dtype: weights.dtype,
      threads: engine.threads,
      notices: [...notices],
      shared: loaded !== undefined,
      config: parseObject(config.name, config.content),
    };
    return { engine, report, checkpoint: { config: config.content, changedConfig: configContent, weights: chosen.version } };
  } catch (error) {
    starting.then((started) => started.dispose()).catch(() => {}); // the caller gets the error of the load; this only frees memory
    throw error;
  }
}

/** Passes everything but the weights to the engine. Returns the number of bytes. */
async function openModel(
  engine: Engine,
  request: TaskRequest,
  files: readonly NamedFile[],
  chosen: ChosenWeights,
  adapter: Job | undefined,
): Promise<number> {
  let length = 0;
  for (const { name, content } of files) {
    engine.addFile(name, content);
    length += content.length;
  }
  const { task, id2label, enhancedMaskDecoder, loraTask, pooling } = request;
  const own = { id2label, enhanced_mask_decoder: enhancedMaskDecoder, lora_task: loraTask, pooling };
  await engine.open({ task: task.name, dtype: precisionFor(request, chosen), ...own });
  return adapter ? length + (await feedAdapter(adapter, engine)) : length;
}

async function feedChosen(
  job: Job,
  engine: Engine,
  request: LoadRequest,
  { copy, found, file }: ChosenWeights,
  config: NamedFile,
): Promise<number> {
  if (copy) return feedFile(job, file!, copy, (chunk) => engine.feedWeights(chunk));
  const form = formOf(request);
  return feedFound(job, engine, found!, form && { config: config.content, form });
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

async function feedFound(
  job: Job,
  engine: Engine,
  weights: FoundWeights,
  /** If weights are to be stored as they are quantised. */
  quantized: { config: Uint8Array; form: QuantizedForm } | undefined,
): Promise<number> {
  const { name } = weights;
  const form = quantized && name === kForms[0] ? weights.file.inForm?.(quantized.form) : undefined;
  const copy = form && QuantizedCopy.start(engine, name, quantized!.config, quantized!.form, form);
  if (!copy) return feedWeights(job, engine, weights);
  return copy.storing(() => feedFile(job, name, { ...weights.file, chunks: form.chunks }, (chunk) => copy.feed(chunk)));
}
