// peruse/teach in browsers.
import '../index.js';
import { filesFolder } from '../engine/files_browser.js';
import type { Source } from '../sources/source.js';
import { startBrowserWorker, workerScript } from '../worker/start_browser.js';
import type { TeachExample, TeachTask } from './examples.js';
import type { TeachVerbs } from './lesson.js';
import type { TeachOptions, TeachProgress } from './options.js';
import { pretrainWith } from './pretrain.js';
import type { PretrainedTask, PretrainObjective, PretrainOptions } from './pretrain_options.js';
import type { Taught } from './taught.js';
import { type TeachParts, teachWith } from './teach.js';

export * from './face.js';

/** Spelled out so that bundlers find the file. */
function newWorker(): Worker {
  return new Worker(new URL('./peruse-teach-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

const kParts: TeachParts = {
  startWorker: async (threads) => {
    const here = import.meta.url;
    const script = workerScript('peruse-teach-worker.js', await filesFolder(here), newWorker, here);
    return startBrowserWorker<TeachVerbs, TeachProgress>(script, threads);
  },
};

/**
 * Teaches a model from examples, here: nothing leaves the machine. It works in a worker of its own, which ends with it.
 *
 * @param task 'text-classification', 'token-classification', 'question-answering', or 'zero-shot-classification' (a GLiClass).
 * @param source The model to start from, as in pipeline(): a URL or path of a folder, a hub id, or its files.
 * @param examples At least two of different labels. They are counted from 0 in messages.
 * @throws PeruseError with a `code` that says why; an example that can't be used is named by its number.
 */
export async function teach<T extends TeachTask>(
  task: T,
  source: Source,
  examples: readonly TeachExample<T>[],
  options: TeachOptions<T> = {},
): Promise<Taught<T>> {
  return teachWith(kParts, task, source, examples, options);
}

/**
 * Goes on with a model's pre-training on plain text, here: nothing leaves the machine. Works as teach() does.
 *
 * @param objective 'mlm': masked words are told; for any model. 'rtd': a generator, which is trained beside, replaces words, and the model
 *   finds which; how ELECTRA, ConvBERT and DeBERTa v3 were trained.
 * @param source The model to go on with, as in pipeline(). Of 'rtd' the discriminator.
 * @param lines Texts; what is too long for the model is read in pieces. They are counted from 0 in messages.
 * @throws PeruseError with a `code` that says why.
 */
export async function pretrain<O extends PretrainObjective>(
  objective: O,
  source: Source,
  lines: readonly string[],
  options: PretrainOptions = {},
): Promise<Taught<PretrainedTask<O>>> {
  return pretrainWith(kParts, objective, source, lines, options);
}
