// Peruse: reads text inside the page. The package's face; what is not exported here is private.
export { PeruseError, type ErrorCode } from './errors.js';
export { pipeline, type Pipeline, type PipelineInfo, type PipelineOptions } from './pipeline.js';
export type { BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress } from './progress.js';
export { env, type FileContent, type Source } from './source.js';
export type * from './tasks.js';
export type { WeightReport } from './engine.js';
export type { MemoryReport } from './host.js';
export type { Variant } from './variant.js';
