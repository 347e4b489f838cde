// The order of a save: at every moment the folder holds one complete model, or none that can be loaded.
import { PeruseError, show } from '../errors.js';
import { kLabelConfig } from './label_models.js';
import { kModelFiles, kWeightFiles } from './model_files.js';

/** The files without which a folder is no model or adapter: removed first, and written last. */
export const kMarks = ['config.json', 'adapter_config.json'];

export interface SavePlan {
  removed: string[];
  /** Files to write, in this order. */
  written: string[];
}

/** Options of `save()`. */
export interface SaveOptions {
  /** Replace a model that the folder holds. Default: false, and such a folder throws 'invalid_argument'. */
  overwrite?: boolean;
}

export function checkSaveOptions(options: SaveOptions): SaveOptions {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `The options of save() must be an object, not ${show(options)}.`);
  }
  const { overwrite = false, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new PeruseError('invalid_argument', `save() has no option ${show(other)}. It has overwrite.`);
  if (typeof overwrite !== 'boolean') throw new PeruseError('invalid_argument', `overwrite must be true or false, not ${show(overwrite)}.`);
  return { overwrite };
}

/** Throws if the folder holds a model. Weights without a configuration, which an interrupted save leaves, do not count. `present` lists its names. */
export function refuseModel(present: readonly string[], where: string): void {
  const configs = [...kMarks, kLabelConfig];
  const found = [...configs, ...kWeightFiles].filter((name) => present.includes(name));
  if (found.some((name) => configs.includes(name))) {
    throw new PeruseError(
      'invalid_argument',
      `${where} holds a model (${found.slice(0, 3).join(', ')}): name another folder, or set overwrite to true.`,
    );
  }
}

/** Throws if the folder holds a model that may not be replaced. `names` are the files to write, `present` the names in the folder. */
export function planSave(names: readonly string[], present: readonly string[], where: string, { overwrite }: SaveOptions): SavePlan {
  if (overwrite !== true) refuseModel(present, where);
  const marks = kMarks.filter((name) => names.includes(name));
  return {
    removed: [...kMarks, ...kModelFiles.filter((name) => !kMarks.includes(name) && !names.includes(name))].filter((name) =>
      present.includes(name),
    ),
    written: [...names.filter((name) => !kMarks.includes(name)), ...marks],
  };
}
