// What peruse/teach adds to models and pipelines: model.teach(), and gradients for explain(), which read the model again in a training worker.
import { chooseThreads } from '../engine/variant.js';
import { env, mostThreads } from '../env.js';
import { PeruseError, toPeruseError, unlessAborted } from '../errors.js';
import type { Gradients, LoadedFrom, Training } from '../pipeline_members.js';
import { runtime } from '../platform/current.js';
import { engineFolder } from '../platform/paths.js';
import { sendable } from '../sources/sendable.js';
import { definitionOf, engineTask } from '../tasks/tasks.js';
import type { TeachTask } from '../tasks/training.js';
import type { TeachOptions } from './options.js';
import { LoadedSource } from './taught.js';
import { type TeachRuntime, teachWith } from './teach.js';
import { TeachWorker } from './teach_calls.js';

/** What peruse/teach adds to models and pipelines. */
export function trainingWith(runtime: TeachRuntime): Training {
  return {
    gradients: (model) => openGradients(runtime, model),
    teach: (task, source, examples, options) =>
      teachWith(runtime, task as TeachTask, new LoadedSource(source), examples as never, options as TeachOptions),
  };
}

/** Opens the gradients of a pipeline's model; the worker starts at the first explanation. */
function openGradients(runtime: TeachRuntime, model: LoadedFrom): Gradients {
  let running: { stop: AbortController; worker: Promise<TeachWorker> } | undefined;
  let underWay = 0;
  const dispose = () => {
    running?.stop.abort();
    running = undefined;
  };
  const start = (): Promise<TeachWorker> => {
    const stop = new AbortController();
    const worker = openWorker(runtime, model, stop.signal);
    running = { stop, worker };
    worker.catch(() => {
      if (running?.worker === worker) running = undefined; // the next explanation tries again
    });
    return worker;
  };
  const usable = async (): Promise<TeachWorker> => {
    const worker = await (running?.worker ?? start());
    if (worker.usable()) return worker;
    dispose();
    return start();
  };
  return {
    async explain(request, signal) {
      underWay += 1;
      try {
        const worker = await unlessAborted(usable(), signal);
        return await unlessAborted(worker.explain(request), signal);
      } catch (error) {
        if (signal?.aborted && underWay === 1) dispose(); // the engine would compute to the end
        throw toPeruseError(error);
      } finally {
        underWay -= 1;
      }
    },
    dispose,
  };
}

/** Starts a worker that has read the model. It ends at `signal`, or if the model cannot be read. */
async function openWorker({ startWorker }: TeachRuntime, { task, spec, options }: LoadedFrom, signal: AbortSignal): Promise<TeachWorker> {
  for (const name of ['adapter', 'id2label'] as const) {
    if (options[name] !== undefined) {
      throw new PeruseError('unsupported', `method 'gradient' can't explain a pipeline with the option ${name}.`);
    }
  }
  const choice = chooseThreads(runtime().features(/*inWorker=*/ true), options.threads, mostThreads());
  const wasm = engineFolder(env.filesPath, runtime().paths.baseUrl());
  const port = await unlessAborted(startWorker(choice.threads), signal, (late) => late.terminate());
  const worker = new TeachWorker(port);
  signal.addEventListener('abort', () => worker.dispose());
  try {
    await worker.open({
      task: definitionOf(task).explains!,
      pipelineTask: engineTask(task),
      source: await sendable(spec, signal, runtime()),
      choice,
      wasm,
    });
  } catch (error) {
    worker.dispose();
    throw error;
  }
  return worker;
}
