/**
 * Why a call failed.
 *
 * - `invalid_argument`: an unknown option, a value out of range, or a wrong type.
 * - `empty_text`: there is nothing to read: an empty text for `teach()` or `explain()`, or no tokens at all.
 * - `text_too_long`: more tokens than the model accepts, without truncation.
 * - `malformed_file`: a file's bytes contradict its format.
 * - `truncated_file`: a file ends too early.
 * - `unsupported`: valid, but Peruse (or this machine) does not implement it.
 * - `missing_tensor`, `shape_mismatch`, `missing_head`: the checkpoint does not fit its configuration or the task.
 * - `out_of_memory`: an allocation failed.
 * - `not_found`: a required file does not exist.
 * - `aborted`: the caller's signal cancelled the call.
 * - `disposed`: the pipeline was used after `dispose()`.
 * - `internal`: a bug in Peruse; please report it.
 * - `unauthorized`: a gated or private model, without a token that grants access.
 * - `offline`: the file is not stored on this machine, and `env.offline` forbids requests.
 * - `network`: a server could not be reached, answered with an error, or the connection broke.
 * - `no_wasm`: the WebAssembly engine could not be started.
 * - `no_gpu`: this machine lacks WebGPU or a suitable adapter.
 * - `gpu_lost`: the GPU device was lost (driver reset, long sleep). The next call loads the model again.
 * - `gpu_failed`: the GPU's driver rejected a shader or a command.
 * - `worker_died`: the engine stopped during its work; load the pipeline again.
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

export interface PlainError {
  code: ErrorCode;
  message: string;
}

/** An error on its way to another thread. */
export interface SentError extends PlainError {
  cause?: SentCause;
}

/** The copy of an error's cause. Other values than errors become a message. */
export interface SentCause {
  name: string;
  message: string;
  code?: string | number;
  stack?: string;
  cause?: SentCause;
}

/** Maximum length of a message, which may quote a caller or a file. The middle of a longer one is cut. */
const kLongestMessage = 1000;
const kLongestValue = 100;

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function withFullStop(message: string): string {
  return /[.!?]["')]?$/.test(message) ? message.replace(/([^.])\.\.$/, '$1.') : `${message}.`;
}

/** Control and format characters, except line ends, tabs and the joiner of emoji. */
const kUnsafe = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/gu;

/** Escapes control characters in names and texts from a model's files, because a terminal would obey them. */
export function printable(text: string): string {
  return text.replace(kUnsafe, (character) => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/** The only class of error that Peruse throws. `message` names the option, field or file at fault. */
export class PeruseError extends Error {
  /** 'AbortError' for the code 'aborted', as for web APIs; otherwise 'PeruseError'. */
  override readonly name: 'PeruseError' | 'AbortError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(withoutMiddle(withFullStop(printable(message)), kLongestMessage), options);
    this.code = code;
    this.name = code === 'aborted' ? 'AbortError' : 'PeruseError';
  }

  /** Compares names, because each bundle of the package has its own PeruseError class. */
  static override [Symbol.hasInstance](value: unknown): value is PeruseError {
    if (!(value instanceof Error)) return false;
    return value.name === 'PeruseError' || (value.name === 'AbortError' && (value as Partial<PeruseError>).code === 'aborted');
  }
}

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : show(error);
  // Node's fetch only says "fetch failed"; the reason is in the error's cause.
  const reason = error.cause instanceof Error ? error.cause.message : '';
  return error.message.includes(reason) ? error.message : `${error.message} (${reason})`;
}

function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  // Does not cut a surrogate pair in two.
  const begin = text.slice(0, Math.ceil(0.7 * most)).replace(/[\ud800-\udbff]$/, '');
  const end = text.slice(begin.length - most).replace(/^[\udc00-\udfff]/, '');
  return `${begin}...${end}`;
}

export function show(value: unknown): string {
  try {
    if (typeof value === 'string') return `'${withoutMiddle(value, kLongestValue)}'`;
    if (typeof value === 'function') return 'a function';
    const text = String(value);
    return text === '[object Object]' ? 'an object' : withoutMiddle(text, kLongestValue);
  } catch {
    return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  }
}

/** Converts an error thrown while reading a caller's arguments, for example by a getter, to 'invalid_argument'. */
export function asArgumentError(error: unknown): PeruseError {
  if (error instanceof PeruseError) return error;
  return new PeruseError('invalid_argument', `The arguments can't be read: ${describeError(error)}`, { cause: error });
}

export function toPeruseError(error: unknown): PeruseError {
  return error instanceof PeruseError ? error : new PeruseError('internal', describeError(error), { cause: error });
}

export function toPlainError(error: unknown): PlainError {
  const { code, message } = toPeruseError(error);
  return { code, message };
}

/** Number of causes of causes that are copied, because an error may be its own cause. */
const kCauses = 4;

export function toSentError(error: unknown): SentError {
  const { cause } = toPeruseError(error);
  return { ...toPlainError(error), ...(cause !== undefined && { cause: copyOfCause(cause) }) };
}

/** The error as the other thread threw it. Its cause is an Error with the name, message, code and stack of the original. */
export function fromSentError({ code, message, cause }: SentError): PeruseError {
  return new PeruseError(code, message, cause && { cause: causeFrom(cause) });
}

export function copyOfCause(cause: unknown, levels = kCauses): SentCause {
  if (!(cause instanceof Error)) return { name: 'Error', message: typeof cause === 'string' ? cause : show(cause) };
  const { name, message, code, stack } = cause as Error & { code?: unknown };
  return {
    name: String(name),
    message: String(message),
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof stack === 'string' && { stack }),
    ...(cause.cause !== undefined && levels > 1 && { cause: copyOfCause(cause.cause, levels - 1) }),
  };
}

export function causeFrom({ name, message, code, stack, cause }: SentCause): Error {
  const error = new Error(message, cause && { cause: causeFrom(cause) });
  return Object.assign(error, { name, ...(code !== undefined && { code }), ...(stack !== undefined && { stack }) });
}

/** Checks a caller's signal by its members, because it may come from another realm. */
export function checkSignal(signal: unknown): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const given = signal as AbortSignal;
  const listener = () => {};
  try {
    given.addEventListener('abort', listener);
    given.removeEventListener('abort', listener);
    if (typeof given.aborted === 'boolean') return given;
  } catch {}
  throw new PeruseError('invalid_argument', `signal must be an AbortSignal, not ${show(signal)}.`);
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

export function abortError(signal: AbortSignal): PeruseError {
  return new PeruseError('aborted', 'The call was cancelled by its signal.', { cause: signal.reason });
}

const following = new WeakMap<AbortSignal, { acts: Set<() => void>; listener: () => void }>();

/** Calls `act` when the signal fires, unless the returned function is called first. One listener per signal: Node warns above ten. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let entry = following.get(signal);
  if (!entry) {
    const acts = new Set<() => void>();
    const listener = () => {
      following.delete(signal);
      for (const each of acts) each();
    };
    entry = { acts, listener };
    following.set(signal, entry);
    signal.addEventListener('abort', listener, { once: true });
  }
  const { acts, listener } = entry;
  const own = () => act();
  acts.add(own);
  return () => {
    if (!acts.delete(own) || acts.size > 0 || following.get(signal)?.acts !== acts) return;
    following.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

/** Awaits the promise, or throws 'aborted' as soon as the signal fires. A result that arrives later is passed to `drop`. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  drop: (late: T) => void = () => {},
): Promise<T> {
  if (!signal) return promise;
  let unfollow = () => {};
  const aborted = new Promise<never>((_, reject) => {
    unfollow = onAbort(signal, () => reject(abortError(signal)));
  });
  try {
    throwIfAborted(signal);
    return await Promise.race([promise, aborted]);
  } catch (error) {
    promise.then(drop).catch(() => {});
    throw error;
  } finally {
    unfollow();
  }
}
