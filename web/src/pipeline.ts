/// <reference lib="esnext.disposable" preserve="true" />
import { describeIn, type ModelDescription } from './describe.js';
import { asArgumentError, PeruseError, show, throwIfAborted } from './errors.js';
import { type OpenedModel, openModel } from './opened_model.js';
import type { ModelInfo } from './pipeline_info.js';
import { callsOf, createPipeline, type Pipeline, teachModel } from './pipeline_members.js';
import {
  type AnyPipelineOptions,
  checkModelOptions,
  checkPipelineOptions,
  checkTaskOptions,
  type ModelOptions,
  type PipelineOptionsOf,
  type TaskOptionsOf,
} from './pipeline_options.js';
import type { Source } from './sources/source.js';
import {
  definitionOf,
  kAliases,
  kClassification,
  kTaskNames,
  kTasks,
  type ResolvedTask,
  type Task,
  type TaskOrAlias,
} from './tasks/tasks.js';
import { type PipelineTokenizer, pipelineTokenizer } from './tasks/tokenizer_calls.js';

export type { Pipeline };

/** A model in memory. All models of a page or process that were loaded from the same files with the same options share one engine. */
export interface Model {
  readonly info: ModelInfo;
  readonly tokenizer: PipelineTokenizer;
  /**
   * Makes a pipeline of the model. It reads further weights only if the task has a head that no pipeline has used before. Dispose of it
   * separately.
   */
  pipeline<T extends TaskOrAlias>(task: T, options?: TaskOptionsOf<T>): Promise<Pipeline<ResolvedTask<T>>>;
  /** Describes the model as {@link describe} does: the tasks that run, and the weights to choose from. */
  describe(options?: { signal?: AbortSignal }): Promise<ModelDescription>;
  /** Frees the model's memory, unless a pipeline uses it. Later calls throw 'disposed'. */
  dispose(): Promise<void>;
  /** Calls dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Loads a model with the head that its config.json names.
 *
 *     const model = await load('user/model');
 *     const classify = await model.pipeline('text-classification');
 *
 * @param source The model: a URL or path of a folder, a hub id, or files. See {@link Source}.
 * @throws PeruseError. A failed load frees everything that it allocated.
 */
export async function load(source: Source, settings: ModelOptions = {}): Promise<Model> {
  const start = performance.now();
  try {
    const options = checkModelOptions(settings);
    checkNamed('load', source);
    return await openModel(source, options, async (model) => {
      const opened = await model.open(undefined, options, start);
      return createModel(model, opened);
    });
  } catch (error) {
    throw asArgumentError(error);
  }
}

/**
 * Loads a model for a task: the same as `(await load(source, options)).pipeline(task)`, except that dispose() also frees the model.
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
  return pipelineOf(task, source, settings, 0);
}

/** Like pipeline(), but only pipelines with the same number share an engine. For programs that compute in several workers. */
export async function pipelineOf<T extends TaskOrAlias>(
  task: T,
  source: Source,
  settings: PipelineOptionsOf<T>,
  instance: number,
): Promise<Pipeline<ResolvedTask<T>>> {
  const start = performance.now();
  try {
    const resolved = resolveTask(task);
    const options = checkPipelineOptions(resolved, settings);
    throwIfAborted(options.signal);
    checkNamed(resolved, source);
    const open = (model: OpenedModel) => openPipeline(resolved, model, options, start, () => model.leave());
    return (await openModel(source, options, open, instance)) as unknown as Pipeline<ResolvedTask<T>>;
  } catch (error) {
    throw asArgumentError(error);
  }
}

async function openPipeline(
  task: Task,
  model: OpenedModel,
  options: AnyPipelineOptions,
  start: number,
  onDispose: () => void,
): Promise<Pipeline> {
  const opened = await model.open(task, options, start);
  try {
    return createPipeline(task, model, opened, { ...model.options, ...options }, onDispose);
  } catch (error) {
    opened.leave();
    throw error;
  }
}

function createModel(model: OpenedModel, opened: Awaited<ReturnType<OpenedModel['open']>>): Model {
  let hasGone = false;
  const { ask, dispose: leave } = callsOf(opened, `The model ${model.name}`);
  const check = () => {
    if (hasGone) throw new PeruseError('disposed', `The model ${model.name} was disposed of; load it again.`);
  };
  const dispose = async () => {
    hasGone = true;
    leave();
    model.leave();
  };
  const members = {
    info: opened.info,
    tokenizer: pipelineTokenizer((request) => ask('tokenize', request)),
    async pipeline(task: TaskOrAlias, settings: AnyPipelineOptions = {}) {
      const start = performance.now();
      try {
        check();
        const resolved = resolveTask(task);
        return await openPipeline(resolved, model, checkTaskOptions(resolved, settings), start, () => {});
      } catch (error) {
        throw asArgumentError(error);
      }
    },
    async describe({ signal }: { signal?: AbortSignal } = {}) {
      check();
      const options = signal === undefined ? {} : { signal };
      return describeIn(await model.started, model.sources, model.options, (request) => ask('describe', request, options));
    },
    async teach(examples: readonly object[], { task, ...options }: { task?: Task } = {}) {
      check();
      return teachModel(task ?? taskToTeach(opened.report.task), model.sources, examples, options);
    },
    dispose,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // the symbol is missing in browsers before 2025
  };
  return members as unknown as Model;
}

/** The task for which a model is trained unless the caller names one: the model's own, if it can be taught. */
function taskToTeach(own: string): Task {
  return kTaskNames.find((task) => task === own && definitionOf(task).teach !== undefined) ?? kClassification;
}

function resolveTask(task: string): Task {
  if (typeof task !== 'string') throw new PeruseError('invalid_argument', `A task must be a string, not ${show(task)}.`);
  const name = Object.hasOwn(kAliases, task) ? kAliases[task as keyof typeof kAliases] : task;
  if (Object.hasOwn(kTasks, name)) return name as Task;
  const known = [...kTaskNames, ...Object.keys(kAliases)].join(', ');
  throw new PeruseError(
    'invalid_argument',
    `There is no task ${show(task)}. Use one of ${known}; for text generation, images and sound use transformers.js.`,
  );
}

/** Throws if no model is named: Peruse has no default models, unlike transformers.js. */
function checkNamed(task: Task | 'load', source: unknown): void {
  if (source !== undefined && source !== null) return;
  if (task === 'load') throw new PeruseError('invalid_argument', "load() needs a model, for example 'user/model'.");
  const { example, withoutModel } = definitionOf(task);
  const without = withoutModel === undefined ? '' : ` ${withoutModel}`;
  const words = example === undefined ? '.' : `, for example '${example}'.`;
  throw new PeruseError(
    'invalid_argument',
    `pipeline('${task}') needs a model as its second argument${words} Peruse has no default models.${without}`,
  );
}
