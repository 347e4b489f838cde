import { chooseThreads } from '../engine/variant.js';
import { env, envNotices, mostThreads } from '../env.js';
import { asArgumentError, PeruseError, show, throwIfAborted, toPeruseError, unlessAborted } from '../errors.js';
import { Listener } from '../listener.js';
import { runtime } from '../platform/current.js';
import { engineFolder } from '../platform/paths.js';
import { sendable } from '../sources/sendable.js';
import type { Source } from '../sources/source.js';
import { hasClassifier, type TrainingTask } from '../tasks/definition.js';
import { definitionOf } from '../tasks/tasks.js';
import { kTeachTasks, type TeachTask } from '../tasks/training.js';
import type { CallerRuntime } from '../worker/runtime.js';
import { checkKind, plainExamples, type TeachExample } from './examples.js';
import { exampleNotices, unreadFields, unusedOptions } from './notices.js';
import { checkTeachOptions, engineMethod, engineSettings, type TeachOptions } from './options.js';
import { readProblem } from './problem.js';
import type { LessonResult } from './report.js';
import { assembleTaught, type Origin, type SaveToDisk, specOf, type Taught, type TeachMore } from './taught.js';
import { type LessonRequest, TeachWorker } from './teach_calls.js';

/** What differs between platforms. The worker is one for training. */
export interface TeachRuntime extends Pick<CallerRuntime, 'startWorker'> {
  saveToDisk?: SaveToDisk;
}

export async function teachWith<T extends TeachTask>(
  runtime: TeachRuntime,
  task: T,
  source: Origin,
  examples: readonly TeachExample<T>[],
  settings: TeachOptions<T>,
): Promise<Taught<T>> {
  let lesson: Omit<LessonRequest, 'source' | 'choice'>;
  let options: TeachOptions<T>;
  let learnt: readonly TeachExample<T>[];
  try {
    if (!kTeachTasks.includes(task)) {
      throw new PeruseError('invalid_argument', `${show(task)} can't be taught. Use ${kTeachTasks.join(', ')}.`);
    }
    options = checkTeachOptions(settings);
    learnt = Array.isArray(examples) ? [...examples] : [];
    lesson = prepare(definitionOf(task).teach!, examples, options);
  } catch (error) {
    throw asArgumentError(error);
  }
  const result = await runLesson(runtime, { source }, lesson, options);
  const { report } = result;
  const solved = hasClassifier(lesson.task) && report.method === 'head' && lesson.problem !== 'regression';
  report.notices.push(...unusedOptions(options as TeachOptions, report.method, solved, report.validation_examples > 0));
  const more: TeachMore<T> = (added, changes) => {
    const { signal: _, ...kept } = options;
    return teachWith(runtime, task, source, [...learnt, ...added] as never, { ...kept, ...changes } as TeachOptions<T>);
  };
  return assembleTaught(task, result, [source], runtime.saveToDisk, more);
}

/** Returns everything of a training run that does not depend on the model. */
function prepare<T extends TeachTask>(
  task: TrainingTask,
  examples: readonly TeachExample<T>[],
  options: TeachOptions<T>,
): Omit<LessonRequest, 'source' | 'choice'> {
  const { validation, labels, method, class_weights: classWeights } = options;
  const plain = plainExamples(task, examples, 'example');
  if (plain.length === 0) throw new PeruseError('invalid_argument', 'There are no examples to learn from.');
  const held = Array.isArray(validation) ? plainExamples(task, validation, 'validation example') : [];
  const named = labels === undefined ? undefined : [...labels];
  if (task.examples === 'entities') for (const kind of named ?? []) checkKind(kind, 'labels');
  const read = task.examples === 'labels' ? readProblem({ examples: plain, validation: held }, options.problem_type, named) : undefined;
  const notices = [...unreadFields(task, examples), ...exampleNotices(task, plain)];
  if (Array.isArray(validation) && validation.length === 0) notices.push('validation is an empty list: nothing is held out.');
  return {
    task,
    wasm: engineFolder(env.filesPath, runtime().paths.baseUrl()),
    examples: plain,
    validation: held,
    method: method === undefined ? undefined : engineMethod(method),
    labels: read ? read.labels : named,
    problem: read?.problem,
    notices,
    classWeights: classWeights === undefined ? undefined : { ...classWeights },
    settings: engineSettings(options as TeachOptions),
  };
}

export async function runLesson(
  { startWorker }: TeachRuntime,
  { source, generator }: { source: Origin; generator?: Source | undefined },
  lesson: Omit<LessonRequest, 'source' | 'generator' | 'choice'>,
  { signal, progress_callback: callback, threads, ...options }: TeachOptions,
): Promise<LessonResult> {
  const reading = new AbortController();
  let worker: TeachWorker | undefined;
  try {
    throwIfAborted(signal);
    const choice = chooseThreads(runtime().features(/*inWorker=*/ true), threads, mostThreads());
    const wasm = lesson.wasm ?? (await runtime().filesFolder?.());
    const spec = await specOf(source, options);
    const generatorSpec = generator === undefined ? undefined : await specOf(generator, options);
    throwIfAborted(signal);
    const listener = new Listener(callback);
    const port = await unlessAborted(startWorker(choice.threads), signal, (late) => late.terminate());
    worker = new TeachWorker(port, (progress) => listener.tell(progress));
    const notices = envNotices();
    const notice = (sentence: string) => notices.push(sentence);
    const send = (one: typeof spec) => sendable(one, reading.signal, { ...runtime(), notice });
    const sent = { source: await send(spec), generator: generatorSpec && (await send(generatorSpec)) };
    const done = worker.teach({ ...lesson, wasm, choice, ...sent });
    const result = await listener.unlessFailed(unlessAborted(done, signal));
    listener.check();
    result.report.notices.push(...notices);
    return result;
  } catch (error) {
    throw toPeruseError(error);
  } finally {
    worker?.dispose(); // ends the worker, which frees the engine's memory
    reading.abort();
  }
}
