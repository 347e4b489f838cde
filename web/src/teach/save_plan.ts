// The order of a save: at every moment the folder holds one complete model, or none that can be loaded.
import { PeruseError } from '../errors.js';

/** The files without which a folder is no model or adapter: removed first, and written last. */
export const kMarks = ['config.json', 'adapter_config.json'];

/** Files of weights. A folder must hold those of one model only. */
const kWeights = [
  'model.safetensors',
  'model.safetensors.index.json',
  'pytorch_model.bin',
  'pytorch_model.bin.index.json',
  'adapter_model.safetensors',
  'adapter_model.bin',
];

/** Other files of models; a save removes those that it does not write. */
const kSmall = [
  'added_tokens.json',
  'config_sentence_transformers.json',
  'merges.txt',
  'modules.json',
  'sentence_bert_config.json',
  'sentence_distilbert_config.json',
  'sentence_roberta_config.json',
  'sentence_xlm-roberta_config.json',
  'special_tokens_map.json',
  'spm.model',
  'tokenizer.json',
  'tokenizer_config.json',
  'vocab.json',
  'vocab.txt',
];

export interface SavePlan {
  removed: string[];
  /** Files to write, in this order. */
  written: string[];
}

/** Throws if the folder has weights that this save would not replace. `present` lists the names in the folder. */
export function planSave(files: ReadonlyMap<string, unknown>, present: readonly string[], where: string): SavePlan {
  const others = kWeights.filter((name) => present.includes(name) && !files.has(name));
  if (others.length > 0) {
    throw new PeruseError(
      'invalid_argument',
      `${where} holds another model's weights (${others.join(', ')}): save to another folder, or remove that model first.`,
    );
  }
  const marks = kMarks.filter((name) => files.has(name));
  return {
    removed: [...kMarks, ...kSmall.filter((name) => !files.has(name))].filter((name) => present.includes(name)),
    written: [...[...files.keys()].filter((name) => !kMarks.includes(name)), ...marks],
  };
}
