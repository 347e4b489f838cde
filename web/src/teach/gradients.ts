// Gradients for explain() of pipelines: reads the pipeline's model again, in a training worker.
import { chooseThreads } from '../engine/variant.js';
import { mostThreads } from '../env.js';
import { PeruseError, toPeruseError, unlessAborted } from '../errors.js';
import type { GradientRequest } from '../explain/gradient.js';
import type { Gradients, LoadedFrom } from '../pipeline_members.js';
import { platform } from '../platform/current.js';
import { engineFolder } from '../platform/engine_folder.js';
import { sendable } from '../sources/sendable.js';
import { RemoteHost } from '../worker/worker_host.js';
import type { TeachVerbs } from './lesson.js';
import type { TeachProgress } from './options.js';
import type { TeachParts } from './teach.js';

type Call = (wish: GradientRequest) => Promise<TeachVerbs['explain']['gives']>;

/** Opens the gradients of a pipeline's model; the worker starts at the first explanation. */
export function openGradients({ startWorker }: TeachParts, { task, spec, options }: LoadedFrom): Gradients {
  let reading = new AbortController();
  let host: RemoteHost<TeachVerbs, TeachProgress> | undefined;
  let opening: Promise<Call> | undefined;
  let underWay = 0;
  const dispose = () => {
    reading.abort();
    host?.dispose();
    opening = host = undefined;
    reading = new AbortController();
  };
  const open = async (): Promise<Call> => {
    if (options.adapter !== undefined) {
      throw new PeruseError('unsupported', "method 'gradient' can't explain a model with an adapter.");
    }
    const choice = chooseThreads(platform().features(/*inWorker=*/ true), options.threads, mostThreads());
    const wasm = engineFolder(options.wasm_path, platform().paths.baseUrl());
    const started = new RemoteHost<TeachVerbs, TeachProgress>(await startWorker(choice.threads), () => {});
    host = started;
    const model = {
      task: task === 'question-answering' ? ('question-answering' as const) : ('text-classification' as const),
      readsModules: task === 'text-classification',
      source: await sendable(spec, reading.signal, platform().folderParts),
      choice,
      wasm,
    };
    let sent = false;
    return (wish) => {
      const first = sent ? {} : { model };
      sent = true;
      return started.call('explain', { ...first, wish });
    };
  };
  return {
    async explain(wish, signal) {
      underWay += 1;
      try {
        opening ??= open();
        const run = await unlessAborted(opening, signal);
        return await unlessAborted(run(wish), signal);
      } catch (error) {
        if (underWay === 1) dispose(); // ends the worker, unless another explanation needs it; the next one starts another
        throw toPeruseError(error);
      } finally {
        underWay -= 1;
      }
    },
    dispose,
  };
}
