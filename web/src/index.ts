// Peruse: reads text inside the page. The package's face; what is not exported here is private.
export { PeruseError, type ErrorCode } from './errors.js';
export { pipeline, type Pipeline, type PipelineInfo, type PipelineOptions } from './pipeline.js';
export type { BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress } from './progress.js';
export { env, type FileContent, type Source } from './source.js';
export type { CallOptions } from './tasks/call.js';
export type * from './tasks/feature_extraction.js';
export type * from './tasks/multiple_choice.js';
export type * from './tasks/question_answering.js';
export type * from './tasks/replaced_token_detection.js';
export type { ResolvedTask, Task, TaskCall, TaskOrAlias } from './tasks/tasks.js';
export type * from './tasks/text_classification.js';
export type * from './tasks/text_ranking.js';
export type * from './tasks/token_classification.js';
export type * from './tasks/zero_shot_classification.js';
export type { WeightReport } from './engine.js';
export type { MemoryReport } from './memory_report.js';
export type { Build, Variant } from './variant.js';
