// The options of pretrain().
import type { OptionKind } from '../load_options.js';
import type { Source } from '../sources/source.js';
import { kKinds, type TeachOptions } from './options.js';

/** What text teaches: masked words ('mlm'), or which words a generator replaced ('rtd'). */
export type PretrainObjective = 'mlm' | 'rtd';

/** Pre-training options. Defaults are those of teach() unless stated otherwise. */
export interface PretrainOptions
  extends Omit<
    TeachOptions,
    | 'class_weights'
    | 'label_smoothing'
    | 'labels'
    | 'lora_alpha'
    | 'lora_rank'
    | 'lora_targets'
    | 'method'
    | 'problem_type'
    | 'sift'
    | 'validation'
  > {
  /** Lines that are held out, to measure by: a list, or a share of the lines, drawn by the seed. The best state is kept. */
  validation?: readonly string[] | number;
  /** How many of a text's words are masked. Default 0.15. */
  mask_share?: number;
  /** 'rtd': weight of the discriminator's loss relative to the generator's. Default 50 (ELECTRA), or 10 for DeBERTa. */
  detection_weight?: number;
  /** 'rtd': the generator to go on with. Default: a new one, smaller than the model. */
  generator?: Source;
}

/** The task of the pipeline that a pre-trained model is for. */
export type PretrainedTask<O extends PretrainObjective = PretrainObjective> = O extends 'mlm' ? 'fill-mask' : 'replaced-token-detection';

const {
  class_weights: _1,
  label_smoothing: _2,
  labels: _3,
  lora_alpha: _4,
  lora_rank: _5,
  lora_targets: _6,
  method: _7,
  problem_type: _8,
  sift: _9,
  ...kShared
} = kKinds;

/** The kinds of pretrain()'s options: those of teach() that mean something there, and its own. */
export const kPretrainKinds: Record<string, OptionKind> = {
  ...kShared,
  detection_weight: 'number',
  generator: 'other',
  mask_share: 'number',
};
