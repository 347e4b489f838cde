import { type Given, option, type Schema } from '../options.js';
import type { Source } from '../sources/source.js';
import { type OnlyTeachOption, type TeachOptions, teachSchema } from './options.js';

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
