// Streams: results of many inputs, one after the other, while the next are computed.
import { onAbort, PeruseError, show, throwIfAborted } from '../errors.js';
import { nameOf } from './call.js';

/** Options of `stream`, in addition to those of the call. */
export interface StreamOptions {
  /** Inputs that are computed together. Default 16. */
  batch_size?: number;
  /** Called after each result. */
  progress_callback?: (progress: StreamProgress) => void;
  /** Ends the stream with 'aborted'. */
  signal?: AbortSignal;
}

/** How far a stream is. */
export interface StreamProgress {
  /** Results that were delivered. */
  done: number;
  /** All inputs; absent if the inputs do not say how many they are. */
  total?: number;
}

/** Inputs of a stream: a list, a generator, a readable stream. */
export type StreamInputs<I> = Iterable<I> | AsyncIterable<I>;

/** The result or the error of one input. */
export type Outcome<I, R> = { index: number; input: I } & ({ result: R } | { error: PeruseError });

/** Computes the results of a batch: one for each input. */
export type RunBatch<I, R> = (batch: readonly I[], signal: AbortSignal) => Promise<readonly R[]>;

const kBatchSize = 16;

/**
 * The outcome of every input, in order. The next batch is read and computed while the caller works on the results of one, and no more:
 * inputs are read as fast as results are taken. An input that fails has an error as its outcome, and does not affect its neighbours.
 */
export async function* outcomes<I, R>(
  inputs: StreamInputs<I>,
  run: RunBatch<I, R>,
  { batch_size: size = kBatchSize, signal }: StreamOptions = {},
): AsyncGenerator<Outcome<I, R>, void, undefined> {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new PeruseError('invalid_argument', `batch_size must be a whole number from 1 on, not ${show(size)}.`);
  }
  const stop = new AbortController();
  const unfollow = signal && onAbort(signal, () => stop.abort(signal.reason));
  const batches = batchesOf(inputs, size);
  const next = async () => {
    const { value, done } = await batches.next();
    return done ? undefined : settled(value, run, stop.signal);
  };
  let ahead = next();
  try {
    for (;;) {
      const found = await ahead;
      throwIfAborted(signal);
      if (found === undefined) return;
      ahead = next();
      ahead.catch(() => {}); // It is awaited in the next round, unless the caller stops before.
      for (const one of found) {
        throwIfAborted(signal);
        yield one;
      }
    }
  } finally {
    stop.abort();
    unfollow?.();
    await batches.return(undefined);
  }
}

async function* batchesOf<I>(inputs: StreamInputs<I>, size: number): AsyncGenerator<{ first: number; batch: I[] }, void, undefined> {
  let first = 0;
  let batch: I[] = [];
  for await (const input of inputs) {
    batch.push(input);
    if (batch.length < size) continue;
    yield { first, batch };
    first += batch.length;
    batch = [];
  }
  if (batch.length > 0) yield { first, batch };
}

/** If a batch fails, its inputs are computed one by one, so that each has its own outcome. */
export async function settled<I, R>(
  { first, batch }: { first: number; batch: readonly I[] },
  run: RunBatch<I, R>,
  signal: AbortSignal,
): Promise<Outcome<I, R>[]> {
  try {
    const results = await run(batch, signal);
    return batch.map((input, place) => ({ index: first + place, input, result: results[place]! }));
  } catch (error) {
    if (!(error instanceof PeruseError) || endsAll(error)) throw error;
    if (batch.length === 1) return [{ index: first, input: batch[0]!, error }];
  }
  const alone: Outcome<I, R>[] = [];
  for (const [place, input] of batch.entries()) alone.push(...(await settled({ first: first + place, batch: [input] }, run, signal)));
  return alone;
}

function endsAll({ code }: PeruseError): boolean {
  return ['aborted', 'disposed', 'worker_died', 'gpu_lost', 'gpu_failed', 'internal'].includes(code);
}

type Call = (...given: unknown[]) => Promise<unknown>;

/** The member `stream` of a task's pipeline: like the call, but with many inputs instead of one. */
export function streamOf(task: string, call: Call): (inputs: unknown, ...rest: unknown[]) => AsyncGenerator<unknown, void, undefined> {
  return async function* stream(inputs, ...rest) {
    if (typeof inputs !== 'object' || inputs === null || !(Symbol.iterator in inputs || Symbol.asyncIterator in inputs)) {
      throw new PeruseError('invalid_argument', `stream() takes a list or an iterable of inputs, not ${nameOf(inputs)}.`);
    }
    const given = typeof rest.at(-1) === 'object' && !Array.isArray(rest.at(-1)) ? { ...(rest.pop() as object) } : {};
    const { batch_size, progress_callback, signal, ...options } = given as StreamOptions & Record<string, unknown>;
    const run: RunBatch<unknown, unknown> = async (batch, stop) =>
      (await call(...argumentsOf(task, batch), ...rest, { ...options, signal: stop })) as unknown[];
    const settings = { ...(batch_size === undefined ? {} : { batch_size }), ...(signal === undefined ? {} : { signal }) };
    const total = 'length' in inputs ? Number(inputs.length) : 'size' in inputs ? Number(inputs.size) : undefined;
    let done = 0;
    for await (const outcome of outcomes(inputs as StreamInputs<unknown>, run, settings)) {
      if ('error' in outcome) throw renumbered(outcome.error, outcome.index);
      done += 1;
      progress_callback?.({ done, ...(total === undefined ? {} : { total }) });
      yield outcome.result;
    }
  };
}

/** A question and its context are one input of a stream, and two arguments of the call. */
function argumentsOf(task: string, batch: readonly unknown[]): unknown[] {
  if (task !== 'question-answering') return [batch];
  const pairs = batch.map((input) => (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>);
  return [pairs.map(({ question }) => question), pairs.map(({ context }) => context)];
}

/** Names the input by its number in the stream: a batch of one calls it input 0. */
function renumbered(error: PeruseError, index: number): PeruseError {
  const message = error.message.replace(/\b(input|question|context) 0\b/gi, (_, word: string) => `${word} ${index}`);
  return new PeruseError(error.code, message, { cause: error });
}
