/// <reference lib="esnext.disposable" preserve="true" />

// Makes a pipeline of a task that an opened model has loaded: its call and its members.
import type { MemoryReport, UsageReport } from './engine/load_request.js';
import { asArgumentError, checkSignal, onAbort, PeruseError, show, toPeruseError, unlessAborted } from './errors.js';
import type { OpenedModel, OpenedTask, Sources } from './opened_model.js';
import type { PipelineInfo } from './pipeline_info.js';
import type { AnyPipelineOptions } from './pipeline_options.js';
import { runtime } from './platform/current.js';
import type { SourceSpec } from './sources/source.js';
import { type CallOptions, hasBlank, ignoredOptions, type Run } from './tasks/call.js';
import type { CallContext } from './tasks/definition.js';
import type { ExplainGradient, Explains } from './tasks/explanations.js';
import { type InspectCall, inspectCall } from './tasks/inspection.js';
import { definitionOf, kTasks, type Task, type TaskCall } from './tasks/tasks.js';
import { type PipelineTokenizer, pipelineTokenizer } from './tasks/tokenizer_calls.js';
import { kVectorSearch, type NearestRequest, type SetVectors, type VectorSearch } from './tasks/vector_search.js';
import type { Verb, Verbs } from './worker/host.js';

/** A loaded model: a function with the signature of its task. */
export type Pipeline<T extends Task = Task> = TaskCall<T> & {
  readonly task: T;
  readonly info: PipelineInfo;
  /** Returns tokens, attention maps, span kernels and hidden states of one text or pair. */
  readonly inspect: InspectCall;
  /** The model: the content of its config.json. */
  readonly model: { readonly config: Readonly<Record<string, unknown>> };
  /** The model's tokenizer: `await classify.tokenizer.count('A text.')`. */
  readonly tokenizer: PipelineTokenizer;
  /** Reports the engine's memory. */
  memory(): Promise<MemoryReport>;
  /** Counts calls, tokens and time of this pipeline. */
  usage(): Promise<UsageReport>;
  /** @internal */
  readonly [kVectorSearch]: VectorSearch;
  /**
   * Frees the model's memory, unless another pipeline uses it. Later calls throw 'disposed'; running calls throw 'aborted'. In Node an idle
   * worker (11 MB) waits ten seconds for the next load.
   */
  dispose(): Promise<void>;
  /** Calls dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** The model of a pipeline, to be read again. */
export interface LoadedFrom {
  task: Task;
  spec: SourceSpec;
  options: AnyPipelineOptions;
}

export interface Gradients {
  explain: ExplainGradient;
  dispose(): void;
}

/** What peruse/teach adds to models and pipelines. */
export interface Training {
  /** Opens the gradients of a pipeline's model; the worker starts at the first explanation. */
  gradients(model: LoadedFrom): Gradients;
  /** Trains a model on examples of a task. */
  teach(task: Task, source: SourceSpec, examples: readonly object[], options: object): Promise<unknown>;
}

let provided: Training | undefined;

/** Called by peruse/teach when it is imported. */
export function provideTraining(training: Training): void {
  provided = training;
}

/** Trains a model. Throws 'unsupported' unless peruse/teach has been imported. */
export async function teachModel(task: Task, { adapter, source }: Sources, examples: readonly object[], options: object): Promise<unknown> {
  if (provided === undefined) throw new PeruseError('unsupported', 'model.teach() needs the training engine. Import peruse/teach first.');
  if (adapter) throw new PeruseError('unsupported', 'model.teach() is for models without an adapter.');
  return provided.teach(task, source, examples, options);
}

type Call = (...given: unknown[]) => Promise<unknown>;
export type Ask = <V extends Verb>(verb: V, request: Verbs[V]['takes'], options?: CallOptions) => Promise<Verbs[V]['gives']>;

/** Sends calls to the host of an opened task, until dispose(). `what` is for messages. */
export function callsOf({ host, turn, leave }: OpenedTask, what: string): { ask: Ask; dispose(): void } {
  const end = new AbortController();
  const gone = () => new PeruseError('disposed', `${what} was disposed of; load it again.`);
  const ask: Ask = async (verb, request, { signal, priority } = {}) => {
    if (end.signal.aborted) throw gone();
    checkSignal(signal);
    if (priority !== undefined && priority !== 'high') {
      throw new PeruseError('invalid_argument', `priority must be 'high', not ${show(priority)}.`);
    }
    const stop = new AbortController();
    const unfollow = [signal, end.signal].map((one) => one && onAbort(one, () => stop.abort(one.reason)));
    if (signal?.aborted) stop.abort(signal.reason);
    try {
      return await unlessAborted(host.call(verb, request, stop.signal, { ...turn, isUrgent: priority === 'high' }), stop.signal);
    } catch (error) {
      const typed = toPeruseError(error);
      throw end.signal.aborted && typed.code === 'worker_died' ? gone() : typed;
    } finally {
      for (const each of unfollow) each?.();
    }
  };
  const dispose = () => {
    end.abort(new PeruseError('aborted', `${what} was disposed of.`));
    leave();
  };
  return { ask, dispose };
}

/** Limits the notices that calls add to those of the load. */
const kMostNotices = 50;

/** Makes a pipeline. `options` are those of the load and of the task; `onDispose` runs when the pipeline is disposed of. */
export function createPipeline(
  task: Task,
  { sources }: OpenedModel,
  opened: OpenedTask,
  options: AnyPipelineOptions,
  onDispose: () => void,
): Pipeline {
  const { ask, dispose: leave } = callsOf(opened, `This ${task} pipeline`);
  const { adapter } = sources;
  const model = { task, spec: sources.source, options: { ...options, ...(adapter && { adapter: adapter.name }) } };
  const dispose = async () => {
    leave();
    explained.dispose();
    onDispose();
  };
  const notices = [...opened.info.notices];
  const notice = (sentence: string) => {
    if (!notices.includes(sentence) && notices.length < opened.info.notices.length + kMostNotices) notices.push(sentence);
  };
  const members = {
    task,
    info: { ...opened.info, task, notices },
    model: { config: opened.report.config },
    inspect: typed(inspectCall((request, given) => ask('inspect', request, given))),
    tokenizer: pipelineTokenizer((request) => ask('tokenize', request)),
    memory: () => ask('memory', null),
    usage: () => ask('usage', null),
    dispose,
    [kVectorSearch]: {
      set: (request: SetVectors) => ask('setVectors', request),
      nearest: (request: NearestRequest, given?: CallOptions) => ask('nearest', request, given),
    },
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // the symbol is missing in browsers before 2025
  };
  const createCall = kTasks[task].call as (run: Run, context: CallContext) => (...given: unknown[]) => Promise<unknown>;
  const run: Run = async (inputs, settings, given) => {
    for (const name of ignoredOptions(definitionOf(task).options, given)) notice(`Option ${name} is ignored: ${task} does not have it.`);
    if (inputs.some(hasBlank)) notice((await runtime().extras()).describeBlank(inputs));
    return ask('run', { inputs, options: settings }, given);
  };
  const call = createCall(run, {
    defaults: model.options,
    describeCuts: async (inputs) => notice(await (await runtime().extras()).describeCuts(inputs, members.tokenizer)),
    loadRedactKit: runtime().redaction,
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

/** The member `explain`, whose work is done in extras.ts, which loads on use, and for gradients in peruse/teach. */
function explaining(model: LoadedFrom, call: Call, tokenizer: PipelineTokenizer): { members: { explain?: Call }; dispose(): void } {
  const { task } = model;
  let gradients: Gradients | undefined;
  const dispose = () => gradients?.dispose();
  if (!definitionOf(task).explains) return { members: {}, dispose };
  const gradient: ExplainGradient = (request, signal) => {
    gradients ??= provided!.gradients(model);
    return gradients.explain(request, signal);
  };
  const explain: Call = async (...given) =>
    (await runtime().extras()).explain({ task: task as keyof Explains, call, tokenizer, gradient: provided && gradient }, given);
  return { members: { explain }, dispose };
}

function streaming(task: Task, call: Call): { stream?: (...given: unknown[]) => AsyncGenerator<unknown, void, undefined> } {
  if (definitionOf(task).oneInput) return {};
  return {
    stream: (inputs, ...rest) =>
      untilReturned(async function* (returned) {
        yield* (await runtime().extras()).streamOf(task, call, returned)(inputs, ...rest);
      }),
  };
}

/**
 * An async generator whose return() is heard while it waits: a native one would first finish the pending next(). `start` gets the signal that
 * fires then, on which the generator must end.
 */
function untilReturned<T>(start: (returned: AbortSignal) => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const returned = new AbortController();
  const inner = start(returned.signal);
  const end = async () => {
    returned.abort();
    return inner.return(undefined);
  };
  const outer = {
    next: () => inner.next(),
    return: end,
    throw(error: unknown) {
      returned.abort();
      return inner.throw(error);
    },
    [Symbol.asyncIterator]: () => outer,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: async () => void (await end()) } : {}), // the symbol is missing in older browsers
  };
  return outer as AsyncGenerator<T, void, undefined>;
}
