/// <reference lib="esnext.disposable" preserve="true" />

import type { LoadRequest } from './engine/load_request.js';
import type { MemoryReport, UsageReport } from './engine/reports.js';
import { env, envNotices } from './env.js';
import { asArgumentError, checkSignal, describeError, PeruseError, show, throwIfAborted, toPeruseError, unlessAborted } from './errors.js';
import { Listener } from './listener.js';
import { describeLoad, loadNotes, type PipelineInfo } from './pipeline_info.js';
import { explaining, type LoadedFrom, streaming } from './pipeline_members.js';
import { type AnyPipelineOptions, checkPipelineOptions, type PipelineOptionsOf } from './pipeline_options.js';
import { checkOptions, leaseFor, loadRequest, otherSources, rememberProbe } from './pipeline_request.js';
import { platform } from './platform/current.js';
import type { ProgressInfo } from './progress.js';
import type { HostLease } from './sharing.js';
import { kModelFiles } from './sources/model_files.js';
import { namedBase } from './sources/named_base.js';
import { resolveSource, type Source, type SourceSpec } from './sources/source.js';
import type { Run } from './tasks/call.js';
import type { CallContext } from './tasks/definition.js';
import { type InspectCall, inspectCall } from './tasks/inspection.js';
import {
  definitionOf,
  kAliases,
  kTaskNames,
  kTasks,
  type ResolvedTask,
  type Task,
  type TaskCall,
  type TaskOrAlias,
} from './tasks/tasks.js';
import { type PipelineTokenizer, pipelineTokenizer } from './tasks/tokenizer_calls.js';
import { kVectorSearch, type NearestRequest, type SetVectors, type VectorSearch } from './tasks/vector_search.js';
import type { Host, Verb, Verbs } from './worker/host.js';
import { MovingHost } from './worker/moving_host.js';
import { RemoteHost } from './worker/remote_host.js';

/** A loaded model: a function with the signature of its task. */
export type Pipeline<T extends Task = Task> = TaskCall<T> & {
  readonly task: T;
  readonly info: PipelineInfo;
  /** Returns tokens, attention maps, span kernels and hidden states of one text or pair. */
  readonly inspect: InspectCall;
  /** The model's tokenizer: `await classify.tokenizer.count('A text.')`. */
  readonly tokenizer: PipelineTokenizer;
  /** Reports the engine's memory. */
  memory(): Promise<MemoryReport>;
  /** Counts calls, tokens and time since loading. */
  usage(): Promise<UsageReport>;
  /** @internal */
  readonly [kVectorSearch]: VectorSearch;
  /**
   * Frees the model's memory. Later calls throw 'disposed'; running calls throw 'aborted'. In Node an idle worker (11 MB) waits ten seconds
   * for the next load.
   */
  dispose(): Promise<void>;
  /** Calls dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Loads a model.
 *
 * @param task The task, for example 'text-classification' or 'question-answering'.
 * @param source The model: a URL or path of a folder, a hub id, or files. See {@link Source}.
 * @throws PeruseError. A failed load frees everything that it allocated.
 */
export async function pipeline<T extends TaskOrAlias>(
  task: T,
  source: Source,
  settings: PipelineOptionsOf<T> = {},
): Promise<Pipeline<ResolvedTask<T>>> {
  try {
    return await loadNamed(task, source, checkPipelineOptions(resolveTask(task), settings));
  } catch (error) {
    throw asArgumentError(error);
  }
}

/** Replaces a source that is an adapter's folder by the base model that the adapter names, with the adapter. */
async function loadNamed<T extends TaskOrAlias>(task: T, source: Source, given: AnyPipelineOptions): Promise<Pipeline<ResolvedTask<T>>> {
  throwIfAborted(given.signal);
  checkNamed(resolveTask(task), source);
  const resolve = () => resolveSource(source, given, platform().paths);
  try {
    return await load(task, await resolve(), given);
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'not_found' || given.adapter !== undefined) throw error;
    const adapter = await resolve().catch(() => undefined); // a dropped folder can only be read once, so its files are kept
    if (adapter === undefined) throw error;
    const signal = given.signal ?? new AbortController().signal;
    const base = await namedBase(adapter, given, platform().paths, platform().files, signal);
    if (base === undefined) throw error;
    return load(task, base, given, adapter);
  }
}

/** `leading` is an adapter that the caller passed as the source, instead of the base model. */
async function load<T extends TaskOrAlias>(
  task: T,
  spec: SourceSpec,
  given: AnyPipelineOptions,
  leading?: SourceSpec,
): Promise<Pipeline<ResolvedTask<T>>> {
  const start = performance.now();
  const options = { ...given, wasm_path: given.wasm_path ?? (await platform().filesFolder?.()) };
  throwIfAborted(options.signal);
  const resolvedTask = resolveTask(task);
  const checked = checkOptions(options);
  const sources = { source: spec, leading, ...(await otherSources(options)) };
  throwIfAborted(options.signal);
  const listener = new Listener(options.progress_callback);
  const report = (progress: ProgressInfo) => listener.tell(progress);
  const lease = await unlessAborted(leaseFor(resolvedTask, sources, options, checked, report), options.signal, giveBack);
  const { host, inWorker } = lease;
  const loading = new AbortController();
  try {
    const notices = envNotices();
    const request = await loadRequest(resolvedTask, sources, options, checked, lease, loading.signal, notices);
    const loaded = await listener.unlessFailed(unlessAborted(host.call('load', request), options.signal));
    const { name } = leading ?? spec;
    report({ status: 'ready', task: resolvedTask, model: name });
    listener.check();
    // the source will not be read again, so its files are released
    if (loaded.deviceChoice.device === 'cpu' || checked.onDeviceLost === 'refuse') loading.abort();
    rememberProbe(loaded.deviceChoice);
    loaded.notices.push(...notices);
    const info = describeLoad(resolvedTask, name, request.choice, loaded, inWorker, performance.now() - start);
    tellDebug(loadNotes(info));
    if (host instanceof MovingHost) {
      await allowMoving(host, spec, request, info);
      Object.defineProperty(info, 'worker', { get: () => host.inWorker, enumerable: true });
    }
    const adapter = leading ?? sources.adapter;
    const model = { task: resolvedTask, spec, options: { ...options, ...(adapter && { adapter: adapter.name }) } };
    return assemble(model, host, info, () => {
      loading.abort();
      lease.release();
    }) as unknown as Pipeline<ResolvedTask<T>>;
  } catch (error) {
    giveBack(lease);
    loading.abort();
    throw toPeruseError(error);
  }
}

/** Allows the host to move to a worker, if the versions of the model's files show that a second load would read the same bytes. */
async function allowMoving(host: MovingHost, spec: SourceSpec, request: LoadRequest, info: PipelineInfo): Promise<void> {
  const others = [request.adapter, request.encoder, request.labelsEncoder];
  const before = await versionsOf(spec, info.weights.file);
  if (before === undefined || others.some((one) => one !== undefined) || info.device !== 'cpu') return;
  host.allow(async (signal) => {
    const remote = new RemoteHost(await platform().startWorker(info.threads), () => {});
    const dispose = () => remote.dispose();
    signal.addEventListener('abort', dispose, { once: true });
    try {
      const choice = { ...request.choice, threads: info.threads, threadsAreFree: false };
      await remote.call('load', { ...request, choice, share: false });
      if ((await versionsOf(spec, info.weights.file)) !== before) throw new Error('the files have changed');
      return remote;
    } catch (error) {
      remote.dispose();
      throw error;
    } finally {
      signal.removeEventListener('abort', dispose);
    }
  });
}

async function versionsOf(spec: SourceSpec, weights: string): Promise<string | undefined> {
  if (spec.kind !== 'folder') return undefined;
  const { openFolder } = await platform().files.kit!();
  const folder = await openFolder(spec, platform().files);
  const { signal } = new AbortController();
  const files = await Promise.all([...kModelFiles, weights].map((name) => folder.open(name, signal).catch(() => undefined)));
  return JSON.stringify(files.map((file) => (file?.found ? file.version : null)));
}

function giveBack({ host, release }: HostLease): void {
  host.dispose();
  release();
}

function tellDebug(notes: string[]): void {
  if (!env.debug) return;
  for (const note of notes) {
    try {
      const given: unknown = env.debug(note);
      if (given instanceof Promise) given.catch(() => {});
    } catch (error) {
      throw new PeruseError('invalid_argument', `env.debug failed: ${describeError(error)}`, { cause: error });
    }
  }
}

function resolveTask(task: string): Task {
  if (typeof task !== 'string') throw new PeruseError('invalid_argument', `A task must be a string, not ${show(task)}.`);
  const name = Object.hasOwn(kAliases, task) ? kAliases[task as keyof typeof kAliases] : task;
  if (Object.hasOwn(kTasks, name)) return name as Task;
  const known = [...kTaskNames, ...Object.keys(kAliases)].join(', ');
  throw new PeruseError('invalid_argument', `There is no task ${show(task)}. Use one of ${known}.`);
}

/** Throws if no model is named: Peruse has no default models, unlike transformers.js. */
function checkNamed(task: Task, source: unknown): void {
  if (source !== undefined && source !== null) return;
  const { example } = definitionOf(task);
  const words = example === undefined ? '.' : `, for example '${example}'.`;
  throw new PeruseError(
    'invalid_argument',
    `pipeline('${task}') needs a model as its second argument${words} Peruse has no default models.`,
  );
}

function assemble(model: LoadedFrom, host: Host, info: PipelineInfo, onDispose: () => void): Pipeline {
  const { task, options: defaults } = model;
  let disposed = false;
  const ask = async <V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> => {
    if (disposed) throw new PeruseError('disposed', `This ${task} pipeline was disposed of; load it again.`);
    checkSignal(signal);
    try {
      return await unlessAborted(host.call(verb, request, signal), signal);
    } catch (error) {
      throw toPeruseError(error);
    }
  };
  const dispose = async () => {
    disposed = true;
    host.dispose();
    explained.dispose();
    onDispose();
  };
  const members = {
    task,
    info,
    inspect: typed(inspectCall((request, signal) => ask('inspect', request, signal))),
    tokenizer: pipelineTokenizer((request) => ask('tokenize', request)),
    memory: () => ask('memory', null),
    usage: () => ask('usage', null),
    dispose,
    [kVectorSearch]: {
      set: (request: SetVectors) => ask('setVectors', request),
      nearest: (request: NearestRequest) => ask('nearest', request),
    },
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // the symbol is missing in browsers before 2025
  };
  const createCall = kTasks[task].call as (run: Run, context: CallContext) => (...given: unknown[]) => Promise<unknown>;
  const call = createCall((inputs, options, signal) => ask('run', { inputs, options }, signal), {
    defaults,
    loadRedactKit: platform().redaction,
    tokenizer: members.tokenizer,
  });
  const explained = explaining(model, call, members.tokenizer);
  const explain = explained.members.explain && { explain: typed(explained.members.explain) };
  return Object.assign(typed(call), { ...call }, streaming(task, typed(call)), explain, members) as unknown as Pipeline;
}

/** Wraps a call so that it throws only PeruseErrors, also if reading its arguments throws. */
function typed<A extends unknown[], R>(call: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
  return async (...given) => {
    try {
      return await call(...given);
    } catch (error) {
      throw asArgumentError(error);
    }
  };
}
