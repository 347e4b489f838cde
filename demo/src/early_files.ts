// The files of a model next to the page, requested together. The library asks for the weights only after it has read the configuration,
// which costs a round trip.
/** The files that Peruse reads of a bundled model. */
const kFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];

interface ModelRequest {
  readonly folder: string;
  /** Responses by address. They may still be pending. */
  readonly responses: ReadonlyMap<string, Promise<Response>>;
  abort(): void;
}

declare global {
  /** The request of request_first_model.ts, until the first load. */
  var peruseFirstModel: ModelRequest | undefined;
  /** Whether the page's script handles taps. */
  var peruseHasStarted: boolean | undefined;
}

/** Bytes of the weights before compression, if the site has compressed the weights of this folder's model (tools/site.mjs). */
function packedBytes(folder: string): number | undefined {
  const models = JSON.parse(document.documentElement.dataset.packed || '{}') as Record<string, number>;
  return models[/[^/]+(?=\/$)/.exec(folder)?.[0] ?? ''];
}

/** Requests the weights with low priority, so that the engine arrives first. */
export function request(folder: string): ModelRequest {
  const controller = new AbortController();
  const { signal } = controller;
  const bytes = packedBytes(folder);
  const get = async (name: string) => {
    if (!name.endsWith('.safetensors')) return fetch(folder + name, { signal });
    if (bytes === undefined) return fetch(folder + name, { priority: 'low', signal });
    return unpacked(await fetch(`${folder}${name}.gzip`, { priority: 'low', signal }), bytes);
  };
  const responses = new Map(kFiles.map((name) => [folder + name, get(name)]));
  for (const response of responses.values()) response.catch(() => {}); // earlyFiles() handles the failure.
  return { folder, responses, abort: () => controller.abort() };
}

export interface EarlyFiles {
  /** For `env.fetch`. Returns the response to each early request once; other requests are sent. */
  readonly fetch: typeof fetch;
  /** Ends the downloads. */
  close(): void;
}

/**
 * Returns the files of the folder, or undefined if one cannot be fetched; the library then finds out why.
 *
 * @throws what `signal` is aborted with.
 */
export async function earlyFiles(folder: string, signal: AbortSignal): Promise<EarlyFiles | undefined> {
  signal.throwIfAborted();
  const { responses, abort } = takeFirst(folder) ?? request(folder);
  const files = new Map<string, Response>();
  const close = () => {
    signal.removeEventListener('abort', abort);
    abort();
    for (const { body } of files.values()) body?.cancel().catch(() => {}); // An aborted body cannot be cancelled.
    files.clear();
  };
  signal.addEventListener('abort', abort);
  try {
    for (const [address, response] of responses) files.set(address, await response);
  } catch {
    close();
    signal.throwIfAborted();
    return undefined;
  }
  if (![...files.values()].every(({ ok }) => ok)) {
    close();
    return undefined;
  }
  const take: typeof fetch = async (address, init) => {
    const early = files.get(`${address}`);
    files.delete(`${address}`);
    return early ?? fetch(address, init);
  };
  return { fetch: take, close };
}

function takeFirst(folder: string): ModelRequest | undefined {
  const first = globalThis.peruseFirstModel;
  globalThis.peruseFirstModel = undefined;
  if (first?.folder === folder) return first;
  first?.abort();
  return undefined;
}

/** Returns the response with its body decompressed. `bytes` is the length of that body. */
function unpacked(response: Response, bytes: number): Response {
  if (!response.ok || !response.body) return response;
  return new Response(response.body.pipeThrough(new DecompressionStream('gzip')), { headers: { 'content-length': String(bytes) } });
}
