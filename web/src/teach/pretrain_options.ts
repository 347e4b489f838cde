import type { OptionKind } from '../load_options.js';
import type { Source } from '../sources/source.js';
import { kKinds, type TeachOptions } from './options.js';

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
  /** Lines for validation: a list, or a share to hold out, drawn by the seed. The weights of the best epoch are kept. */
  validation?: readonly string[] | number;
  /** Share of a text's words that are masked. Default 0.15. */
  mask_share?: number;
  /** For 'rtd': weight of the discriminator's loss relative to the generator's. Default 50 (ELECTRA), or 10 for DeBERTa. */
  detection_weight?: number;
  /** For 'rtd': the generator to continue with. Default: a new one, smaller than the model. */
  generator?: Source;
}

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

export const kPretrainKinds: Record<string, OptionKind> = {
  ...kShared,
  detection_weight: 'number',
  generator: 'other',
  mask_share: 'number',
};
