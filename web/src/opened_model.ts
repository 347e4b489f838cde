// A model as a caller opened it: where its files come from, its options, and its place among the resident models.
import type { DeviceChoice, LoadRequest, ProbeMemory } from './engine/load_request.js';
import { chooseVariant, type VariantChoice } from './engine/variant.js';
import { mostThreads } from './env.js';
import { PeruseError, throwIfAborted, unlessAborted } from './errors.js';
import { Listener } from './listener.js';
import { describeLoad, type ModelInfo } from './pipeline_info.js';
import {
  type AnyPipelineOptions,
  checkWorker,
  deviceWish,
  engineDtypeOf,
  gpuVariant,
  labelNames,
  optionNotices,
  plainDtype,
} from './pipeline_options.js';
import { runtime } from './platform/current.js';
import { engineFiles } from './platform/paths.js';
import { withTotals } from './progress.js';
import { keyOfSource, keyOfTask, type MakeRequest, ResidentModel, type StartedHost, startHost, type TaskUse } from './resident_models.js';
import type { FileAccess } from './sources/file_access.js';
import { parseObject } from './sources/json.js';
import { kAdapterConfig } from './sources/model_files.js';
import { weightsWish } from './sources/onnx_files.js';
import { readSmall } from './sources/read_files.js';
import { sendable } from './sources/sendable.js';
import { kHubId, type PathResolver, resolveSource, type Source, type SourceOptions, type SourceSpec } from './sources/source.js';
import { engineTask, kEngineTasks, type Task } from './tasks/tasks.js';

/** Results of the probe of `device: 'auto'`, kept for the session. */
const kProbes: ProbeMemory = {};

type CheckedOptions = ReturnType<typeof checkOptions>;

function checkOptions(options: AnyPipelineOptions) {
  const device = deviceWish(options);
  return {
    dtype: engineDtypeOf(options),
    weights: weightsWish({ ...options, dtype: plainDtype(options) }),
    device,
    build: device === 'webgpu' ? gpuVariant(options) : options,
    wasm: engineFiles(options, runtime().paths.baseUrl()),
    worker: checkWorker(options),
    keepSource: options.cache === 'source',
  };
}

/** Where the files of a load come from. */
export interface Sources {
  source: SourceSpec;
  /** The caller passed the adapter as the source, instead of its base model. */
  adapterLeads: boolean;
  adapter: SourceSpec | undefined;
  encoder: SourceSpec | undefined;
  labelsEncoder: SourceSpec | undefined;
}

/** A task of an opened model. */
export interface OpenedTask extends TaskUse {
  info: ModelInfo;
}

/**
 * Opens a model, and passes it to `use`. Replaces an adapter's folder by the base model that the adapter names, with the adapter. Models with
 * other numbers as `instance` do not share an engine.
 */
export async function openModel<T>(
  source: Source,
  given: AnyPipelineOptions,
  use: (model: OpenedModel) => Promise<T>,
  instance = 0,
): Promise<T> {
  throwIfAborted(given.signal);
  const options = { ...given, filesFolder: await runtime().filesFolder?.() };
  const opening = async (spec: SourceSpec, leading?: SourceSpec) => {
    const model = await OpenedModel.open(await sourcesOf(spec, leading, options), options, instance);
    try {
      return await use(model);
    } catch (error) {
      model.leave();
      throw error;
    }
  };
  const resolve = () => resolveSource(source, options, runtime().paths);
  try {
    return await opening(await resolve());
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'not_found' || options.adapter !== undefined) throw error;
    const adapter = await resolve().catch(() => undefined); // a dropped folder can only be read once, so its files are kept
    if (adapter === undefined) throw error;
    const signal = options.signal ?? new AbortController().signal;
    const base = await namedBase(adapter, options, runtime().paths, runtime(), signal);
    if (base === undefined) throw error;
    return opening(base, adapter);
  }
}

async function sourcesOf(source: SourceSpec, leading: SourceSpec | undefined, options: AnyPipelineOptions): Promise<Sources> {
  const resolve = (other: Source | undefined) =>
    other === undefined ? undefined : resolveSource(other, { ...options, revision: undefined }, runtime().paths);
  const sources = {
    source,
    adapterLeads: leading !== undefined,
    adapter: leading ?? (await resolve(options.adapter)),
    encoder: await resolve(options.encoder),
    labelsEncoder: await resolve(options.labels_encoder),
  };
  throwIfAborted(options.signal);
  return sources;
}

/** Options of a load that do not change the weights. */
const kSharing = ['loraTask', 'pooling'];

/** The options of a load that belong to a task, not to the model. */
function engineOptions({ id2label, enhanced_mask_decoder: enhanced, lora_task: loraTask, pooling, route }: AnyPipelineOptions) {
  return {
    ...(id2label && { id2label: labelNames(id2label) }),
    ...(enhanced && { enhancedMaskDecoder: true }),
    ...(loraTask !== undefined && { loraTask }),
    ...(pooling && { pooling }),
    ...(route !== undefined && { route }),
  };
}

export class OpenedModel {
  readonly #checked: CheckedOptions;
  readonly #resident: ResidentModel;
  #hasLeft = false;

  private constructor(
    readonly sources: Sources,
    /** The options of the load. */
    readonly options: AnyPipelineOptions,
    checked: CheckedOptions,
    resident: ResidentModel,
  ) {
    this.#checked = checked;
    this.#resident = resident;
  }

  /** `instance` numbers models that are not to share an engine. */
  static async open(sources: Sources, options: AnyPipelineOptions, instance: number): Promise<OpenedModel> {
    const checked = checkOptions(options);
    const { worker, build } = checked;
    const wantsWorker = worker ?? runtime().startsWorkers();
    const { variant, threads } = chooseVariant(runtime().features(wantsWorker), build, mostThreads()); // rejects impossible requests before anything starts
    const key = keyOfModel(sources, checked, [wantsWorker, variant, threads, instance]);
    const start = () => startHost(wantsWorker, worker, threads);
    const request: MakeRequest = async (...given) => ({ ...(await loadRequest(sources, checked, ...given)), tasks: kEngineTasks });
    const resident = await unlessAborted(ResidentModel.enter(key, start, request), options.signal, (late) => late.leave());
    return new OpenedModel(sources, options, checked, resident);
  }

  /** The model, as the caller named it. */
  get name(): string {
    const { adapterLeads, adapter, source } = this.sources;
    return adapterLeads ? adapter!.name : source.name;
  }

  /** Opens a task, or without a name any task. `start` is the time at which the load began. */
  async open(task: Task | undefined, options: AnyPipelineOptions, start: number): Promise<OpenedTask> {
    const listener = new Listener(options.progress_callback);
    const report = withTotals((progress) => listener.tell(progress));
    const wait = <T>(promise: Promise<T>) => listener.unlessFailed(unlessAborted(promise, options.signal));
    const engine = task && engineTask(task, options);
    const own = engineOptions(options);
    const request: MakeRequest = async (...given) => ({
      ...(await loadRequest(this.sources, this.#checked, ...given)),
      ...own,
      share: this.sources.adapter === undefined && Object.keys(own).every((name) => kSharing.includes(name)),
      ...(engine ? { task: engine } : { tasks: kEngineTasks }),
    });
    const use = await this.#resident.use(engine && keyOfTask(engine.name, own), request, report, wait);
    try {
      report({ status: 'ready', task: task ?? use.report.task, model: this.name });
      listener.check();
      rememberProbe(use.report.deviceChoice);
      const started = await this.#resident.started;
      const info = describeLoad(this.name, choiceFor(this.#checked, started), use.report, started, performance.now() - start);
      return { ...use, info: { ...info, notices: [...info.notices, ...optionNotices(options)] } };
    } catch (error) {
      use.leave();
      throw error;
    }
  }

  get started(): Promise<StartedHost> {
    return this.#resident.started;
  }

  leave(): void {
    if (!this.#hasLeft) this.#resident.leave();
    this.#hasLeft = true;
  }
}

function rememberProbe({ probe, probeKey }: DeviceChoice): void {
  if (probe && probeKey !== undefined) kProbes[probeKey] = probe;
}

/** A key of everything that models must have in common to share an engine; undefined if the model's content may change. */
function keyOfModel({ source, adapterLeads, adapter, encoder, labelsEncoder }: Sources, checked: CheckedOptions, more: unknown[]) {
  const keys = [source, adapter, encoder, labelsEncoder].map((one) => (one === undefined ? null : keyOfSource(one)));
  if (keys.includes(undefined)) return undefined;
  const { dtype, weights, device, wasm, keepSource } = checked;
  const engine = wasm instanceof WebAssembly.Module ? numberOf(wasm) : wasm;
  return JSON.stringify([keys, adapterLeads, dtype, weights, device, engine, keepSource, ...more]);
}

const kNumbers = new WeakMap<object, number>();
let numbers = 0;

function numberOf(module: object): number {
  const number = kNumbers.get(module) ?? ++numbers;
  kNumbers.set(module, number);
  return number;
}

function choiceFor({ build }: CheckedOptions, { inWorker, trouble }: StartedHost): VariantChoice {
  const choice = chooseVariant(runtime().features(inWorker), build, mostThreads());
  return trouble === undefined || choice.reason.includes(trouble.slice(0, -1))
    ? choice
    : { ...choice, reason: `${choice.reason} ${trouble} So the model runs in the page's own thread.` };
}

async function loadRequest(
  { source, adapterLeads, adapter, encoder, labelsEncoder }: Sources,
  { dtype, weights, device, build, wasm, keepSource }: CheckedOptions,
  started: StartedHost,
  signal: AbortSignal,
  notice: (sentence: string) => void,
): Promise<LoadRequest> {
  const choice = choiceFor({ build } as CheckedOptions, started);
  const send = async (one: SourceSpec) => (started.inWorker ? sendable(one, signal, { ...runtime(), notice }) : one);
  const engine = wasm ?? (await runtime().build?.(choice.variant, device));
  return {
    dtype,
    weights,
    keepSource,
    source: await send(source),
    ...(adapter && { adapter: await send(adapter), adapterLeads }),
    ...(encoder && { encoder: await send(encoder) }),
    ...(labelsEncoder && { labelsEncoder: await send(labelsEncoder) }),
    choice,
    device,
    probes: { ...kProbes },
    ...(engine && { wasm: engine }),
  };
}

/**
 * Returns the source of the base model that a folder with a LoRA adapter and no config.json names in adapter_config.json, as peft and
 * sentence-transformers save it. Returns undefined if the folder is not an adapter's.
 */
async function namedBase(
  adapter: SourceSpec,
  options: SourceOptions,
  paths: PathResolver,
  access: FileAccess,
  signal: AbortSignal,
): Promise<SourceSpec | undefined> {
  if (adapter.kind === 'port') return undefined;
  const { healing, openFolder } = await access.kit!();
  const config = await healing(async (opened) => {
    const folder = await openFolder(adapter, { ...access, opened });
    const file = await folder.open(kAdapterConfig, signal);
    return file.found ? parseObject(file.where, await readSmall(file)) : undefined;
  });
  if (config === undefined) return undefined;
  const { base_model_name_or_path: name, revision } = config;
  const isLocal = adapter.kind === 'folder' && typeof name === 'string' && (await paths.findFolder(name)) !== undefined;
  if (typeof name !== 'string' || !(isLocal || kHubId.test(name))) {
    throw new PeruseError(
      'not_found',
      `${adapter.name} is an adapter, but the model that ${kAdapterConfig} names was not found. Load its model with the option adapter.`,
    );
  }
  // A downloaded file must not name a folder of this machine.
  const known = isLocal ? paths : { ...paths, findFolder: async () => undefined };
  return resolveSource(name, { ...options, revision: typeof revision === 'string' ? revision : undefined }, known);
}
