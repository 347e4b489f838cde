// peruse/models: writes checkpoints in other forms (Node).
export {
  type ConvertOptions,
  type ConvertReport,
  convertCheckpoint as convert,
  type QuantizeOptions,
  type QuantizeReport,
  quantizeCheckpoint as quantize,
} from './quantize.js';
export type { PackedLayers } from './rewrite_checkpoint.js';
export { type Difference, type ShrinkOptions, type ShrinkReport, shrinkCheckpoint as shrink } from './shrink.js';
export { type TrimOptions, type TrimReport, trimCheckpoint as trim } from './trim.js';
