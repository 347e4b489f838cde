// Requests of a worker that the caller's thread sends, by env.fetch or by Node's fetch(), which a program may have replaced there.
import { causeFrom, copyOfCause, describeError, onAbort, type SentCause } from '../../errors.js';
import type { Port } from '../../web_types.js';
import { type Fetched, FetchFailure, type FetchFile, type FetchInit } from './fetching.js';

type Init = Omit<FetchInit, 'signal'>;
type Question = { id: number } & ({ url: string; init: Init } | { next: true } | { stop: true });
type Head = Omit<Fetched, 'response'> & { status: number; statusText: string; headers: [string, string][]; hasBody: boolean };
type Answer = { id: number } & (
  | { head: Head }
  | { failed: string; retries: number; cause: SentCause }
  | { chunk: Uint8Array }
  | { end: true }
  | { broken: string }
);

const kBytesAhead = 1 << 20;
const kThrough = new WeakMap<Port, FetchFile>();

/** Returns a function that sends its requests through the port. */
export function fetchThrough(port: Port): FetchFile {
  const known = kThrough.get(port) ?? new PortFetch(port as MessagePort).fetch;
  kThrough.set(port, known);
  return known;
}

class PortFetch {
  private next_ = 1;
  private readonly waiting_ = new Map<number, (answer: Answer) => void>();

  constructor(private readonly port_: MessagePort) {
    port_.onmessage = ({ data }: MessageEvent<Answer>) => {
      const resolve = this.waiting_.get(data.id);
      this.waiting_.delete(data.id);
      resolve?.(data);
    };
  }

  readonly fetch: FetchFile = async (url, { signal, ...init }) => {
    const id = this.next_++;
    const stop = () => this.port_.postMessage({ id, stop: true } satisfies Question);
    const answer = await this.ask({ id, url, init }, signal, stop);
    if ('failed' in answer) throw new FetchFailure(answer.failed, answer.retries, { cause: causeFrom(answer.cause) });
    if (!('head' in answer)) throw new FetchFailure('the thread that sends requests gave no answer', 0);
    const { status, statusText, headers, hasBody, ...rest } = answer.head;
    const body = hasBody ? this.body(id, signal, stop) : null;
    return { ...rest, response: new Response(body, { status, statusText, headers }) };
  };

  private body(id: number, signal: AbortSignal, stop: () => void): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const answer = await this.ask({ id, next: true }, signal, stop);
          if ('chunk' in answer) controller.enqueue(answer.chunk);
          else if ('broken' in answer) controller.error(new Error(answer.broken));
          else controller.close();
        },
        cancel: stop,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: kBytesAhead }),
    );
  }

  private async ask(question: Question, signal: AbortSignal, stop: () => void): Promise<Answer> {
    if (signal.aborted) throw signal.reason;
    let unfollow = () => {};
    try {
      return await new Promise<Answer>((resolve, reject) => {
        unfollow = onAbort(signal, () => {
          stop();
          reject(signal.reason);
        });
        this.waiting_.set(question.id, resolve);
        this.port_.postMessage(question);
      });
    } finally {
      unfollow();
    }
  }
}

/** Sends the requests that arrive at the port, until `signal` fires. */
export function serveFetch(port: MessagePort, fetchFile: FetchFile, signal: AbortSignal): void {
  const running = new Map<number, { stop: AbortController; reader?: ReadableStreamDefaultReader<Uint8Array> | undefined }>();
  const begin = async (id: number, url: string, init: Init): Promise<Answer> => {
    const stop = new AbortController();
    running.set(id, { stop });
    try {
      const { response, ...rest } = await fetchFile(url, { ...init, signal: stop.signal });
      const { status, statusText } = response;
      const reader = response.body?.getReader();
      if (reader) running.set(id, { stop, reader });
      else running.delete(id);
      return { id, head: { ...rest, status, statusText, headers: [...response.headers], hasBody: reader !== undefined } };
    } catch (error) {
      running.delete(id);
      const { retries, cause = error } = error instanceof FetchFailure ? error : { retries: 0 };
      return { id, failed: describeError(error), retries, cause: copyOfCause(cause) };
    }
  };
  const read = async (id: number): Promise<Answer> => {
    try {
      const { done = true, value } = (await running.get(id)?.reader?.read()) ?? {};
      if (!done && value) return { id, chunk: value };
      running.delete(id);
      return { id, end: true };
    } catch (error) {
      running.delete(id);
      return { id, broken: describeError(error) };
    }
  };
  const end = (id: number) => {
    running.get(id)?.stop.abort();
    running.delete(id);
  };
  port.onmessage = async ({ data }: MessageEvent<Question>) => {
    if ('stop' in data) {
      end(data.id);
      return;
    }
    const answer = 'url' in data ? await begin(data.id, data.url, data.init) : await read(data.id);
    if ('chunk' in answer) answer.chunk = answer.chunk.slice(); // posting a view would copy its whole buffer
    port.postMessage(answer, 'chunk' in answer ? [answer.chunk.buffer as ArrayBuffer] : []);
  };
  (port as Partial<{ unref(): void }>).unref?.(); // Node: an open port alone does not keep the process
  onAbort(signal, () => {
    port.close();
    for (const id of [...running.keys()]) end(id);
  });
}
