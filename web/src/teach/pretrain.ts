import { asArgumentError, PeruseError, show } from '../errors.js';
import { checkLoadOptions, type OptionKind, type OptionName } from '../load_options.js';
import { platform } from '../platform/current.js';
import { engineFolder } from '../platform/engine_folder.js';
import type { Source } from '../sources/source.js';
import { nameOf } from '../tasks/call.js';
import type { PlainExample, PretrainTask } from './examples.js';
import type { LessonRequest } from './lesson.js';
import { engineSettings, type TeachOptions } from './options.js';
import { kPretrainKinds, type PretrainedTask, type PretrainObjective, type PretrainOptions } from './pretrain_options.js';
import { assembleTaught, type Taught } from './taught.js';
import { runLesson, type TeachRuntime } from './teach.js';

const kTasks: Record<PretrainObjective, { engine: PretrainTask; pipeline: PretrainedTask }> = {
  mlm: { engine: 'masked-lm', pipeline: 'fill-mask' },
  rtd: { engine: 'replaced-token-detection', pipeline: 'replaced-token-detection' },
};

export async function pretrainWith<O extends PretrainObjective>(
  runtime: TeachRuntime,
  objective: O,
  source: Source,
  lines: readonly string[],
  settings: PretrainOptions,
): Promise<Taught<PretrainedTask<O>>> {
  let lesson: Omit<LessonRequest, 'source' | 'choice'>;
  let options: PretrainOptions;
  try {
    if (!Object.hasOwn(kTasks, objective)) {
      throw new PeruseError('invalid_argument', `The objective must be 'mlm' or 'rtd', not ${show(objective)}.`);
    }
    options = checkLoadOptions(settings, kPretrainKinds as Record<OptionName<PretrainOptions>, OptionKind>, 'pre-training');
    for (const name of ['generator', 'detection_weight'] as const) {
      if (objective === 'mlm' && options[name] !== undefined) throw new PeruseError('invalid_argument', `${name} is for 'rtd'.`);
    }
    lesson = prepare(kTasks[objective].engine, lines, options);
  } catch (error) {
    throw asArgumentError(error);
  }
  const { generator, ...rest } = options;
  const result = await runLesson(runtime, { source, generator }, lesson, rest as TeachOptions);
  return assembleTaught(kTasks[objective].pipeline as PretrainedTask<O>, result, runtime.saveToDisk);
}

function prepare(task: PretrainTask, lines: readonly string[], options: PretrainOptions): Omit<LessonRequest, 'source' | 'choice'> {
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
    wasm: engineFolder(options.wasm_path, platform().paths.baseUrl()),
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
