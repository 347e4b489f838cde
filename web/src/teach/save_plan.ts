// In which order a taught model's files are written, so that a folder is at every moment one model or none.
import { PeruseError } from '../errors.js';

/** What makes a folder a model, or an adapter: removed before anything is written, and written last. */
export const kMarks = ['config.json', 'adapter_config.json'];

/** Files of weights. A folder holds those of one model alone. */
const kWeights = [
  'model.safetensors',
  'model.safetensors.index.json',
  'pytorch_model.bin',
  'pytorch_model.bin.index.json',
  'adapter_model.safetensors',
  'adapter_model.bin',
];

/** Small files of models, which another model's save removes unless it writes them. */
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
  /** To be removed first. */
  removed: string[];
  /** To be written, in this order. */
  written: string[];
}

/**
 * `present` lists the names in the folder. Throws if the folder has weights that this save would not replace: a folder with an adapter and
 * a model would be neither.
 */
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
