// A folder that another thread reads: PortFolder sends requests, serveFolder replies. For sources that cannot be sent to a worker, such as
// a caller's own cache.
import { fromSentError, PeruseError, type PlainError, type SentError, throwIfAborted, toSentError } from '../../errors.js';
import type { MissingFile, ModelFile, ModelFolder } from '../source.js';
import type { RecoverableFolder, Recovery } from './healing.js';

type Asked = { open: string } | { next: number } | { close: number } | { recover: keyof Recovery; error: PlainError | null };
type Question = { id: number } & Asked;
type Answer = { id: number } & (
  | { missing: MissingFile }
  | { where: string; size: number; version: string | undefined }
  | { chunk: Uint8Array }
  | { done: true }
  | { recovered: boolean | string | undefined }
  | { error: SentError }
);

export class PortFolder implements ModelFolder {
  readonly recovery: Recovery = {
    doubt: async (error) => (await this.recover('doubt', error)) === true,
    giveUp: async (error) => (await this.recover('giveUp', error)) as string | undefined,
    settle: async () => void (await this.recover('settle', null)),
  };
  private nextId_ = 1;
  private readonly waiting_ = new Map<number, (answer: Answer) => void>();

  constructor(private readonly port_: MessagePort) {
    port_.onmessage = (event: MessageEvent<Answer>) => {
      this.waiting_.get(event.data.id)?.(event.data);
      this.waiting_.delete(event.data.id);
    };
  }

  async open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    throwIfAborted(signal);
    const answer = await this.ask({ open: file });
    if ('missing' in answer) return answer.missing;
    if (!('where' in answer)) throw new PeruseError('internal', 'The folder returned an invalid answer.');
    const { id, where, size, version } = answer;
    return {
      found: true,
      where,
      size,
      version,
      chunks: () => this.chunks(id),
      close: async () => {
        await this.ask({ close: id });
      },
    };
  }

  private async *chunks(file: number): AsyncGenerator<Uint8Array> {
    let ended = false;
    try {
      for (;;) {
        const answer = await this.ask({ next: file });
        if (!('chunk' in answer)) {
          ended = true;
          return;
        }
        yield answer.chunk;
      }
    } finally {
      if (!ended) await this.ask({ close: file }).catch(() => {});
    }
  }

  private async recover(step: keyof Recovery, error: PlainError | null): Promise<unknown> {
    const answer = await this.ask({ recover: step, error });
    return 'recovered' in answer ? answer.recovered : undefined;
  }

  private async ask(question: Asked): Promise<Answer> {
    const id = this.nextId_++;
    const answer = await new Promise<Answer>((resolve) => {
      this.waiting_.set(id, resolve);
      this.port_.postMessage({ id, ...question });
    });
    if ('error' in answer) throw fromSentError(answer.error);
    return answer;
  }
}

export function serveFolder(folder: RecoverableFolder, port: MessagePort, signal: AbortSignal): void {
  const open = new Map<number, { file: ModelFile; chunks?: AsyncIterator<Uint8Array> }>();
  const answer = async (question: Question): Promise<Omit<Answer, 'id'>> => {
    if ('open' in question) {
      const file = await folder.open(question.open, signal);
      if (!file.found) return { missing: file };
      open.set(question.id, { file });
      return { where: file.where, size: file.size, version: file.version };
    }
    if ('recover' in question) return { recovered: (await folder.recovery?.[question.recover](question.error!)) ?? undefined };
    const id = 'next' in question ? question.next : question.close;
    const one = open.get(id);
    if (one === undefined) return { done: true };
    if ('close' in question) {
      open.delete(id);
      await (one.chunks?.return?.() ?? one.file.close());
      return { done: true };
    }
    one.chunks ??= one.file.chunks()[Symbol.asyncIterator]();
    const { done, value } = await one.chunks.next();
    if (done) open.delete(id);
    return done ? { done: true } : { chunk: value };
  };
  port.onmessage = async (event: MessageEvent<Question>) => {
    const { id } = event.data;
    const said = await answer(event.data).catch((error: unknown) => ({ error: toSentError(error) }));
    if ('chunk' in said) {
      const chunk = (said.chunk as Uint8Array).slice(); // posting a view would copy its whole buffer
      port.postMessage({ id, chunk }, [chunk.buffer]);
    } else {
      port.postMessage({ id, ...said });
    }
  };
  signal.addEventListener(
    'abort',
    () => {
      port.close();
      for (const { file, chunks } of open.values()) void (chunks?.return?.() ?? file.close()).catch(() => {});
    },
    { once: true },
  );
}
