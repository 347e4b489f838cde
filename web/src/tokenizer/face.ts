export { type CustomCache, type Env, env } from '../env.js';
export { type ErrorCode, PeruseError } from '../errors.js';
export type { Bytes, BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress } from '../progress.js';
export type { Source, SourceOptions } from '../sources/source.js';
export { type DirectoryHandle, type FileContent, type FilesSource, filesOf } from '../sources/source_files.js';
export * from './tokenizer.js';
