import '../index.js';
import { filesFolder } from '../engine/files_browser.js';
import { provideTraining } from '../pipeline_members.js';
import type { Source } from '../sources/source.js';
import type { PretrainedTask, PretrainObjective, TeachTask, UsualTeachTask } from '../tasks/training.js';
import { startBrowserWorker, workerScript } from '../worker/start_worker_browser.js';
import type { TeachExample } from './examples.js';
import { trainingWith } from './gradients.js';
import type { TeachOptions } from './options.js';
import { type PretrainOptions, pretrainWith } from './pretrain.js';
import type { Taught } from './taught.js';
import { type TeachRuntime, teachWith } from './teach.js';

export * from './face.js';

declare module '../pipeline.js' {
  interface Model {
    /**
     * Trains the model on examples, in a worker of its own; see teach(). The loaded model stays as it is. Without `task`, examples are for the
     * task of the model's class if that can be taught, otherwise for 'text-classification'.
     */
    teach<T extends TeachTask = UsualTeachTask>(
      examples: readonly TeachExample<T>[],
      options?: TeachOptions<T> & { task?: T },
    ): Promise<Taught<T>>;
  }
}

function newWorker(): Worker {
  return new Worker(new URL('./peruse-teach-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

const kRuntime: TeachRuntime = {
  startWorker: async (threads) => {
    const here = import.meta.url;
    const script = workerScript('peruse-teach-worker.js', await filesFolder(here), newWorker, here);
    return startBrowserWorker(script, threads);
  },
};

provideTraining(trainingWith(kRuntime));

/**
 * Trains a model on examples, on this machine, in a worker of its own.
 *
 * @param task 'text-classification', 'token-classification', 'question-answering', or 'zero-shot-classification' (a GLiClass).
 * @param source The model to start from, as in pipeline(): a URL or path of a folder, a hub id, or files.
 * @param examples At least two with different labels. Messages count them from 0.
 * @throws PeruseError. For an unusable example, the message contains its number.
 */
export async function teach<T extends TeachTask>(
  task: T,
  source: Source,
  examples: readonly TeachExample<T>[],
  options: TeachOptions<T> = {},
): Promise<Taught<T>> {
  return teachWith(kRuntime, task, source, examples, options);
}

/**
 * Continues a model's pre-training on plain text, on this machine, in a worker of its own.
 *
 * @param objective 'mlm' predicts masked words, with any model. 'rtd' trains a generator that replaces words, and the model to find them: the
 *   pre-training of ELECTRA, ConvBERT and DeBERTa v3.
 * @param source The model to continue, as in pipeline(); for 'rtd' the discriminator.
 * @param lines Texts. Longer ones than the model accepts are split. Messages count them from 0.
 * @throws PeruseError.
 */
export async function pretrain<O extends PretrainObjective>(
  objective: O,
  source: Source,
  lines: readonly string[],
  options: PretrainOptions = {},
): Promise<Taught<PretrainedTask<O>>> {
  return pretrainWith(kRuntime, objective, source, lines, options);
}
