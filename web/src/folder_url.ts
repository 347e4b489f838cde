// A model's folder behind a URL.
import { describe, PeruseError, throwIfAborted } from './errors.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

export class UrlFolder implements ModelFolder {
  constructor(private readonly base_: string) {}

  async open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    const url = new URL(this.base_);
    url.pathname += file;
    const where = url.href;
    const response = await request(where, signal);
    const missing = whyMissing(response);
    if (missing !== undefined) {
      await response.body?.cancel();
      return { found: false, where, why: missing };
    }
    const size = announcedLength(response);
    return {
      found: true, where, size,
      chunks: () => readBody(response, where, size, signal),
      close: async () => { await response.body?.cancel(); },
    };
  }
}

async function request(url: string, signal: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    throwIfAborted(signal);
    throw new PeruseError('network', `${url} could not be reached: ${describe(error)}.`, { cause: error });
  }
  if (response.ok || response.status === 404 || response.status === 410) return response;
  await response.body?.cancel();
  const hint = response.status === 401 || response.status === 403 ? ' (the model may not exist, or be private)' : '';
  throw new PeruseError('network', `${url}: the server answered ${response.status} ${response.statusText}`.trimEnd() + `${hint}.`);
}

/** Many servers answer every address that they do not know with the page of an app: status 200, but HTML. */
function whyMissing(response: Response): string | undefined {
  if (!response.ok) return `the server answered ${response.status}`;
  const type = response.headers.get('content-type') ?? '';
  return /^text\/html\b/i.test(type) ? 'the server answered with an HTML page' : undefined;
}

/** The body's length, or 0 if the server does not say or speaks of the compressed length. */
function announcedLength(response: Response): number {
  const encoding = response.headers.get('content-encoding');
  if (encoding && encoding !== 'identity') return 0;
  const length = Number(response.headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

async function* readBody(response: Response, where: string, size: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  const reader = response.body.getReader();
  let loaded = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      loaded += value.length;
      yield value;
    }
  } catch (error) {
    throwIfAborted(signal);
    const of = size > 0 ? ` of ${size}` : '';
    throw new PeruseError('network', `${where}: the connection broke after ${loaded}${of} bytes: ${describe(error)}.`, { cause: error });
  } finally {
    await reader.cancel().catch(() => {});  // Nothing to do if the body has ended; stops the transfer if the caller left early.
  }
  if (loaded < size) {
    throw new PeruseError('truncated_file', `${where} ended after ${loaded} bytes; the server announced ${size}.`);
  }
}
