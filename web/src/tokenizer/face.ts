export { type CustomCache, type Env, env } from '../env.js';
export { type ErrorCode, PeruseError } from '../errors.js';
export type { Bytes, BytesProgress, FileProgress, ProgressCallback, ProgressInfo, ReadyProgress, TotalProgress } from '../progress.js';
export type { Source, SourceOptions } from '../sources/source.js';
export { type DirectoryHandle, type FileContent, type FilesSource, filesOf } from '../sources/source_files.js';
export type { CountOptions, DecodeOptions, EncodeOptions, Encoding, WindowOptions } from '../tasks/tokenizer_calls.js';
export { Tokenizer, type TokenizerOptions } from './tokenizer.js';
