import type { OptionKind } from '../options.js';
import type { Source } from '../sources/source.js';
import { type OnlyTeachOption, type TeachOptions, teachSchema } from './options.js';

/** Pre-training options. Defaults are those of teach() unless stated otherwise. */
export interface PretrainOptions extends Omit<TeachOptions, OnlyTeachOption | 'validation'> {
  /** Lines for validation: a list, or a share to hold out, drawn by the seed. The weights of the best epoch are kept. */
  validation?: readonly string[] | number;
  /** Share of a text's words that are masked. Default 0.15. */
  mask_share?: number;
  /** For 'rtd': weight of the discriminator's loss relative to the generator's. Default 50 (ELECTRA), or 10 for DeBERTa. */
  detection_weight?: number;
  /** For 'rtd': the generator to continue with. Default: a new one, smaller than the model. */
  generator?: Source;
}

export const kPretrainOptions: Readonly<Record<string, { kind: OptionKind }>> = {
  ...teachSchema(/*isPretraining=*/ true),
  detection_weight: { kind: 'number' },
  generator: { kind: 'other' },
  mask_share: { kind: 'number' },
};
