// Gradients for explain() of pipelines: reads the pipeline's model again, in a training worker.
import { chooseThreads } from '../engine/variant.js';
import { mostThreads } from '../env.js';
import { PeruseError, toPeruseError, unlessAborted } from '../errors.js';
import type { Gradients, LoadedFrom } from '../pipeline_members.js';
import { platform } from '../platform/current.js';
import { engineFolder } from '../platform/engine_folder.js';
import { sendable } from '../sources/sendable.js';
import { definitionOf, engineTask } from '../tasks/tasks.js';
import { RemoteHost } from '../worker/remote_host.js';
import type { TeachVerbs } from './lesson.js';
import type { TeachProgress } from './options.js';
import type { TeachRuntime } from './teach.js';

type Host = RemoteHost<TeachVerbs, TeachProgress>;

/** Opens the gradients of a pipeline's model; the worker starts at the first explanation. */
export function openGradients(runtime: TeachRuntime, model: LoadedFrom): Gradients {
  let running: { stop: AbortController; host: Promise<Host> } | undefined;
  let underWay = 0;
  const dispose = () => {
    running?.stop.abort();
    running = undefined;
  };
  const start = (): Promise<Host> => {
    const stop = new AbortController();
    const host = openHost(runtime, model, stop.signal);
    running = { stop, host };
    host.catch(() => {
      if (running?.host === host) running = undefined; // the next explanation tries again
    });
    return host;
  };
  const usable = async (): Promise<Host> => {
    const host = await (running?.host ?? start());
    if (host.usable()) return host;
    dispose();
    return start();
  };
  return {
    async explain(request, signal) {
      underWay += 1;
      try {
        const host = await unlessAborted(usable(), signal);
        return await unlessAborted(host.call('explain', request), signal);
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
async function openHost({ startWorker }: TeachRuntime, { task, spec, options }: LoadedFrom, signal: AbortSignal): Promise<Host> {
  for (const name of ['adapter', 'id2label'] as const) {
    if (options[name] !== undefined) {
      throw new PeruseError('unsupported', `method 'gradient' can't explain a pipeline with the option ${name}.`);
    }
  }
  const choice = chooseThreads(platform().features(/*inWorker=*/ true), options.threads, mostThreads());
  const wasm = engineFolder(options.wasm_path, platform().paths.baseUrl());
  const worker = await unlessAborted(startWorker(choice.threads), signal, (late) => late.terminate());
  const host: Host = new RemoteHost(worker, () => {});
  signal.addEventListener('abort', () => host.dispose());
  try {
    await host.call('open', {
      task: definitionOf(task).explains!,
      pipelineTask: engineTask(task),
      source: await sendable(spec, signal, platform().files),
      choice,
      wasm,
    });
  } catch (error) {
    host.dispose();
    throw error;
  }
  return host;
}
