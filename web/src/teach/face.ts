export type { PretrainedTask, PretrainObjective, TeachTask } from '../tasks/training.js';
export type {
  AnswerExample,
  EntitiesExample,
  EntitySpan,
  ProblemType,
  TeachExample,
  TextExample,
} from './examples.js';
export type { TeachMethod, TeachMetrics, TeachOptions, TeachProgress } from './options.js';
export type { PretrainOptions } from './pretrain.js';
export type { AccuracyReport, MethodScore, TeachReport } from './report.js';
export type { Suggestion } from './suggest.js';
export type { SaveOptions, Taught, TaughtTask, WritableDirectory } from './taught.js';
export { type WidenOptions, widen } from './widen.js';
