// What `peruse/tokenizer` exports, whatever the platform.
export { env, type CustomCache, type Env } from '../env.js';
export { PeruseError, type ErrorCode } from '../errors.js';
export type { Bytes, BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress } from '../progress.js';
export type { Source, SourceOptions } from '../sources/source.js';
export { filesOf, type DirectoryHandle, type FileContent, type FilesSource } from '../sources/source_files.js';
export * from './tokenizer.js';
