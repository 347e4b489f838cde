// The demo page's early requests for a bundled model.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

interface EarlyFiles {
  fetch(address: string): Promise<Response>;
  close(): void;
}
interface Module {
  earlyFiles(folder: string, signal: AbortSignal): Promise<EarlyFiles | undefined>;
  request(folder: string): unknown;
}

/** A path instead of an import, because the file needs the types of pages. */
const kModule: string = fileURLToPath(new URL('../../demo/src/early_files.ts', import.meta.url));
const { earlyFiles, request } = (await import(/* @vite-ignore */ kModule)) as Module;

const kFolder = 'https://site.example/models/a/';
const kWeights = `${kFolder}model.safetensors`;
const kRequests = 4;
const page = globalThis as { peruseFirstModel?: unknown };
let requests: { address: string; signal: AbortSignal | undefined }[];
let cancelled: string[];

function response(address: string): Response {
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(new TextEncoder().encode(address)),
    cancel: () => void cancelled.push(address),
  });
  return new Response(body, { status: address.includes('missing') ? 404 : 200 });
}

async function firstOf(found: Response): Promise<string> {
  return new TextDecoder().decode((await found.body!.getReader().read()).value as Uint8Array);
}

beforeEach(() => {
  requests = [];
  cancelled = [];
  vi.stubGlobal('document', { documentElement: { dataset: { packed: '{"packed":7}' } } });
  vi.stubGlobal('fetch', async (address: string, options?: { signal?: AbortSignal }) => {
    requests.push({ address, signal: options?.signal });
    return response(address);
  });
});
afterEach(() => {
  delete page.peruseFirstModel;
  vi.unstubAllGlobals();
});

test('compressed weights are requested instead, and arrive decompressed with their length', async () => {
  const folder = 'https://site.example/models/packed/';
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: string) => {
    asked.push(address);
    return address.endsWith('.gzip') ? new Response(gzipSync('weights')) : response(address);
  });
  const early = (await earlyFiles(folder, new AbortController().signal))!;
  expect(asked).toContain(`${folder}model.safetensors.gzip`);
  expect(asked).not.toContain(`${folder}model.safetensors`);
  const found = await early.fetch(`${folder}model.safetensors`);
  expect(found.headers.get('content-length')).toBe('7');
  expect(await found.text()).toBe('weights');
  early.close();
});

test('a file has arrived once, other requests are sent, and the first load takes the requests of the small script', async () => {
  page.peruseFirstModel = request(kFolder);
  const early = (await earlyFiles(kFolder, new AbortController().signal))!;
  expect(requests).toHaveLength(kRequests);
  expect(await firstOf(await early.fetch(kWeights))).toBe(kWeights);
  expect(requests).toHaveLength(kRequests);
  for (const address of [kWeights, `${kFolder}other.json`]) {
    expect(await firstOf(await early.fetch(address))).toBe(address);
    expect(requests.at(-1)?.address).toBe(address);
  }
  early.close();
  requests = [];
  await earlyFiles(kFolder, new AbortController().signal);
  expect(requests).toHaveLength(kRequests);
});

test('once closed, it holds no body and requests a file again', async () => {
  const early = (await earlyFiles(kFolder, new AbortController().signal))!;
  early.close();
  expect(cancelled).toHaveLength(kRequests);
  expect(await firstOf(await early.fetch(kWeights))).toBe(kWeights);
  expect(requests).toHaveLength(kRequests + 1);
});

test('an abort reaches the requests, also those of another first model', async () => {
  const controller = new AbortController();
  const { close } = (await earlyFiles(kFolder, controller.signal))!;
  controller.abort();
  expect(requests.every(({ signal }) => signal?.aborted)).toBe(true);
  close();
  await expect(earlyFiles(kFolder, controller.signal)).rejects.toThrow(/abort/);
  requests = [];
  page.peruseFirstModel = request('https://site.example/models/b/');
  await earlyFiles(kFolder, new AbortController().signal);
  expect(requests.filter(({ signal }) => signal?.aborted).map(({ address }) => address)).toHaveLength(kRequests);
  expect(requests).toHaveLength(2 * kRequests);
});

test('a folder without one of the files has no early files', async () => {
  expect(await earlyFiles('https://site.example/models/missing/', new AbortController().signal)).toBeUndefined();
  expect(requests.every(({ signal }) => signal?.aborted)).toBe(true);
});
