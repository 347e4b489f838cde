/**
 * Why a call failed. The first group comes from the core (core/base/status.h, StatusCode); the second belongs to loading
 * and to the worker.
 *
 * - `invalid_argument`: the request makes no sense (unknown option, bad range, wrong type).
 * - `empty_text`: a text that must not be empty is empty.
 * - `text_too_long`: more tokens than the model takes, and truncation was not asked for.
 * - `malformed_file`: a file's bytes contradict its format.
 * - `truncated_file`: a file ended before it should.
 * - `unsupported`: well-formed, but something that Peruse (or this machine) does not do.
 * - `missing_tensor`, `shape_mismatch`, `missing_head`: the checkpoint does not fit its configuration or the task.
 * - `out_of_memory`: an allocation failed.
 * - `not_found`: a file that was asked for does not exist.
 * - `aborted`: the caller's signal cancelled the call.
 * - `disposed`: the pipeline was used after `dispose()`.
 * - `internal`: a fault of Peruse itself; please report it.
 * - `unauthorized`: a server wants a permission: a gated or private model without a token that opens it.
 * - `offline`: the file is not stored here, and the library was told to ask no server.
 * - `network`: a server could not be reached, answered with an error, or the connection broke.
 * - `no_wasm`: the WebAssembly engine could not be started here.
 * - `no_gpu`: this machine has no WebGPU, or no adapter that Peruse can use.
 * - `gpu_lost`: the GPU device went away (driver reset, too long a sleep); the next call recovers, unless the pipeline was
 *   loaded with `on_device_lost: 'refuse'`.
 * - `gpu_failed`: the GPU's driver refused a shader or a command.
 * - `worker_died`: the engine stopped in the middle of its work; load the pipeline again.
 */
export type ErrorCode =
  | 'invalid_argument'
  | 'empty_text'
  | 'text_too_long'
  | 'malformed_file'
  | 'truncated_file'
  | 'unsupported'
  | 'missing_tensor'
  | 'shape_mismatch'
  | 'missing_head'
  | 'out_of_memory'
  | 'not_found'
  | 'aborted'
  | 'disposed'
  | 'internal'
  | 'unauthorized'
  | 'offline'
  | 'network'
  | 'no_wasm'
  | 'no_gpu'
  | 'gpu_lost'
  | 'gpu_failed'
  | 'worker_died';

/** An error as it crosses a worker's border. */
export interface PlainError {
  code: ErrorCode;
  message: string;
}

/** The one class of error that Peruse throws. `message` is one sentence that names the thing at fault. */
export class PeruseError extends Error {
  override readonly name = 'PeruseError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The words of anything that was thrown. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node's fetch says only "fetch failed"; the reason is one level down.
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : '';
  return error.message + cause;
}

export function toPlainError(error: unknown): PlainError {
  if (error instanceof PeruseError) return { code: error.code, message: error.message };
  return { code: 'internal', message: describe(error) };
}

export function fromPlainError(error: PlainError): PeruseError {
  return new PeruseError(error.code, error.message);
}

/** Throws 'aborted' if the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

export function abortError(signal: AbortSignal): PeruseError {
  return new PeruseError('aborted', 'The call was cancelled by its signal.', { cause: signal.reason });
}
