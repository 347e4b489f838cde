import { env } from '../env.js';
import { asArgumentError, PeruseError, show } from '../errors.js';
import { checkOptions, type Given, option, type Schema } from '../options.js';
import { runtime } from '../platform/current.js';
import { engineFolder } from '../platform/paths.js';
import type { Source } from '../sources/source.js';
import { nameOf } from '../tasks/call.js';
import type { TrainingTask } from '../tasks/definition.js';
import { definitionOf } from '../tasks/tasks.js';
import { type PretrainedTask, type PretrainObjective, pretrainedTask } from '../tasks/training.js';
import type { PlainExample } from './examples.js';
import { engineSettings, type OnlyTeachOption, type TeachOptions, teachSchema } from './options.js';
import { assembleTaught, type Taught } from './taught.js';
import { runLesson, type TeachRuntime } from './teach.js';
import type { LessonRequest } from './teach_calls.js';

export const kPretrainOnly = {
  /** Share of a text's words that are masked; at least one is. Default 0.15. */
  mask_share: option({ kind: 'number', default: 0.15 }),
  /** For 'rtd': weight of the discriminator's loss relative to the generator's. Default 50 (ELECTRA), or 10 for DeBERTa. */
  detection_weight: option({ kind: 'number', default: '50, for DeBERTa 10' }),
  /**
   * For 'rtd': the generator to continue with, a source like the model. A new one has the model's vocabulary, and for ELECTRA and ConvBERT a
   * quarter of its width, else half of its layers.
   */
  generator: option<Source>({ kind: 'other', default: 'a new one' }),
};

/** Pre-training options. Defaults are those of teach() unless stated otherwise. */
export interface PretrainOptions extends Omit<TeachOptions, OnlyTeachOption | 'validation'>, Given<typeof kPretrainOnly> {
  /** Lines for validation: a list, or a share to hold out, drawn by the seed. The weights of the best epoch are kept. */
  validation?: readonly string[] | number;
}

export const kPretrainOptions: Schema = { ...teachSchema(/*isPretraining=*/ true), ...kPretrainOnly };

export async function pretrainWith<O extends PretrainObjective>(
  runtime: TeachRuntime,
  objective: O,
  source: Source,
  lines: readonly string[],
  settings: PretrainOptions,
): Promise<Taught<PretrainedTask<O>>> {
  let lesson: Omit<LessonRequest, 'source' | 'choice'>;
  let options: PretrainOptions;
  const task = pretrainedTask(objective);
  try {
    if (task === undefined) {
      throw new PeruseError('invalid_argument', `The objective must be 'mlm' or 'rtd', not ${show(objective)}.`);
    }
    options = checkOptions(settings, kPretrainOptions, 'pre-training');
    for (const name of ['generator', 'detection_weight'] as const) {
      if (objective === 'mlm' && options[name] !== undefined) throw new PeruseError('invalid_argument', `${name} is for 'rtd'.`);
    }
    lesson = prepare(definitionOf(task).pretrain!.task, lines, options);
  } catch (error) {
    throw asArgumentError(error);
  }
  const { generator, ...rest } = options;
  const result = await runLesson(runtime, { source, generator }, lesson, rest as TeachOptions);
  return assembleTaught(task, result, generator === undefined ? [source] : [source, generator], runtime.saveToDisk);
}

function prepare(task: TrainingTask, lines: readonly string[], options: PretrainOptions): Omit<LessonRequest, 'source' | 'choice'> {
  const { validation, mask_share: share, detection_weight: weight } = options;
  const examples = plainLines(lines, 'line');
  if (examples.length === 0) throw new PeruseError('invalid_argument', 'There are no lines to learn from.');
  const settings = engineSettings(options as TeachOptions);
  for (const [name, value] of Object.entries({ mask_share: share, detection_weight: weight })) {
    if (value === undefined) continue;
    if (!Number.isFinite(value)) throw new PeruseError('invalid_argument', `${name} must be a finite number, not ${value}.`);
    settings[name] = value;
  }
  return {
    task,
    wasm: engineFolder(env.filesPath, runtime().paths.baseUrl()),
    examples,
    validation: validation === undefined || typeof validation === 'number' ? [] : plainLines(validation, 'validation line'),
    method: { method: 'full' },
    notices: [],
    settings,
  };
}

function plainLines(given: unknown, what: string): PlainExample[] {
  if (!Array.isArray(given)) throw new PeruseError('invalid_argument', `The ${what}s must be a list, not ${nameOf(given)}.`);
  return Array.from(given as unknown[], (text, number) => {
    if (typeof text !== 'string') throw new PeruseError('invalid_argument', `${what} ${number}: it is ${nameOf(text)}, not a string.`);
    if (text.trim() === '') throw new PeruseError('empty_text', `${what} ${number}: it is empty or only white space.`);
    return { text };
  });
}
