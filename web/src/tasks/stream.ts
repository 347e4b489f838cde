// Streams: results of many inputs, one after the other, while the next are computed. At the end, the types of `stream` by task.
import { onAbort, PeruseError, show, throwIfAborted, unlessAborted } from '../errors.js';
import type { Redaction, RedactOptions } from '../redact/types.js';
import type { Tensor } from '../tensor.js';
import { type CallOptions, type NoOptions, nameOf } from './call.js';
import type { FeatureExtractionOptions, PackedFeatures } from './feature_extraction.js';
import type { FillMaskOptions, FillMaskOutput } from './fill_mask.js';
import type { QuestionAnsweringOptions, QuestionAnsweringOutput } from './question_answering.js';
import type { ReplacedTokenDetectionCall } from './replaced_token_detection.js';
import type { ExtractionResult, ExtractionSchema, StructuredExtractionOptions } from './structured_extraction.js';
import type { TextClassificationOptions, TextClassificationOutput, TextPair } from './text_classification.js';
import type { TokenClassificationOptions, TokenClassificationOutput } from './token_classification.js';
import type { ZeroShotClassificationOptions, ZeroShotClassificationOutput } from './zero_shot_classification.js';
import type { LabelledSpan, ZeroShotTokenClassificationOptions } from './zero_shot_token_classification.js';

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
 * inputs are read as fast as results are taken. An input that fails has an error as its outcome, and does not affect its neighbours. If the
 * source throws, its error follows the outcomes of the inputs before. Ends when `returned` fires.
 */
async function* outcomes<I, R>(
  inputs: StreamInputs<I>,
  run: RunBatch<I, R>,
  { batch_size: size = kBatchSize, signal }: StreamOptions,
  returned: AbortSignal,
): AsyncGenerator<Outcome<I, R>, void, undefined> {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new PeruseError('invalid_argument', `batch_size must be a whole number from 1 on, not ${show(size)}.`);
  }
  const stop = new AbortController();
  const unfollow = signal && onAbort(signal, () => stop.abort(signal.reason));
  const unfollowReturn = onAbort(returned, () => stop.abort());
  const batches = new Batches(inputs, size);
  const next = () => {
    const found = batches.next().then((batch) => batch && settled(batch, run, stop.signal));
    found.catch(() => {}); // It is awaited in the next round, unless the caller stops before.
    return found;
  };
  let ahead = next();
  try {
    for (;;) {
      throwIfAborted(signal);
      const found = await unlessAborted(ahead, stop.signal);
      if (found === undefined) return;
      ahead = next();
      for (const one of found) {
        throwIfAborted(signal);
        yield one;
      }
    }
  } catch (error) {
    if (!returned.aborted) throw error;
  } finally {
    stop.abort();
    unfollow?.();
    unfollowReturn();
    await batches.close();
  }
}

/** The inputs of a source in batches. */
class Batches<I> {
  private readonly source_: AsyncIterator<I> | Iterator<I>;
  private first_ = 0;
  private reading_ = false;
  private ended_ = false;
  private failure_: { error: unknown } | undefined;

  constructor(
    inputs: StreamInputs<I>,
    private readonly size_: number,
  ) {
    this.source_ = Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  }

  /** Returns undefined after the last batch. If the source throws, its error follows the batch that came before it. */
  async next(): Promise<{ first: number; batch: I[] } | undefined> {
    const batch: I[] = [];
    while (batch.length < this.size_ && !this.ended_) {
      try {
        this.reading_ = true;
        const { value, done } = await this.source_.next();
        if (done) this.ended_ = true;
        else batch.push(await value);
      } catch (error) {
        this.ended_ = true;
        this.failure_ = { error };
      } finally {
        this.reading_ = false;
      }
    }
    if (batch.length === 0 && this.failure_) throw this.failure_.error;
    const first = this.first_;
    this.first_ += batch.length;
    return batch.length === 0 ? undefined : { first, batch };
  }

  /** Ends the source. A source that is waiting for its next input ends later, if ever. */
  async close(): Promise<void> {
    const wasEnded = this.ended_;
    this.ended_ = true;
    if (wasEnded) return;
    const ending = Promise.resolve(this.source_.return?.());
    if (!this.reading_) await ending;
    else ending.catch(() => {});
  }
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

/** The member `stream` of a task's pipeline: like the call, but with many inputs instead of one. It ends when `returned` fires. */
export function streamOf(
  task: string,
  call: Call,
  returned: AbortSignal,
): (inputs: unknown, ...rest: unknown[]) => AsyncGenerator<unknown, void, undefined> {
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
    for await (const outcome of outcomes(inputs as StreamInputs<unknown>, run, settings, returned)) {
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

/** Results in the order of the inputs. */
export type ResultStream<R> = AsyncGenerator<R, void, undefined>;

/** A question and the text that answers it. */
export interface QuestionInput {
  question: string;
  context: string;
}

type TextStream<O extends CallOptions, R> = (texts: StreamInputs<string>, options?: O & StreamOptions) => ResultStream<R>;

/** Each result is an item of the list that the call returns for a list of inputs. Tasks whose input is one query or prompt have no stream. */
export interface Streams {
  'text-classification': <const O extends TextClassificationOptions = NoOptions>(
    texts: StreamInputs<string | TextPair>,
    options?: O & StreamOptions,
  ) => ResultStream<TextClassificationOutput<string[], O>[number]>;
  'token-classification': <const O extends TokenClassificationOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<TokenClassificationOutput<O>>;
  'question-answering': <const O extends QuestionAnsweringOptions = NoOptions>(
    inputs: StreamInputs<QuestionInput>,
    options?: O & StreamOptions,
  ) => ResultStream<QuestionAnsweringOutput<string, O>>;
  'zero-shot-classification': (
    texts: StreamInputs<string>,
    candidate_labels: string | readonly string[],
    options?: ZeroShotClassificationOptions & StreamOptions,
  ) => ResultStream<ZeroShotClassificationOutput>;
  'zero-shot-token-classification': (
    texts: StreamInputs<string>,
    labels: string | readonly string[],
    options?: ZeroShotTokenClassificationOptions & StreamOptions,
  ) => ResultStream<LabelledSpan[]>;
  'structured-extraction': (
    texts: StreamInputs<string>,
    schema: ExtractionSchema,
    options?: StructuredExtractionOptions & StreamOptions,
  ) => ResultStream<ExtractionResult>;
  'fill-mask': <const O extends FillMaskOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<FillMaskOutput<O>>;
  'feature-extraction': <O extends FeatureExtractionOptions = NoOptions>(
    texts: StreamInputs<string>,
    options?: O & StreamOptions,
  ) => ResultStream<O extends { quantize: true } ? PackedFeatures : Tensor>;
  'replaced-token-detection': TextStream<CallOptions, Awaited<ReturnType<ReplacedTokenDetectionCall>>[number]>;
  redact: TextStream<RedactOptions, Redaction>;
}

/** The call's `stream`, where the task has one. */
export type Streaming<T> = T extends keyof Streams
  ? {
      /** Yields a result for each input, in order, while the next inputs are computed. Inputs are read as fast as results are taken. */
      readonly stream: Streams[T];
    }
  : unknown;
