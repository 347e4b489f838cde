// A static server for the demo page, by default for this machine only. It sends the headers of cross-origin isolation, which threads need,
// and the page's content security policy, which also applies to workers.
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { extname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const kTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/plain; charset=utf-8', // browsers would save text/markdown
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Chromium needs only the last header; other browsers need the first two. */
const kIsolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Document-Isolation-Policy': 'isolate-and-require-corp',
};

/** Styles within a page are allowed; the demo page's own policy allows its own only, by hash. */
const kPolicy = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; " +
    "connect-src 'self' https: http://localhost:* http://127.0.0.1:*; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const kLooksAgain = 200; // milliseconds between two checks whether a file has been built

interface ServeOptions {
  port?: number;
  /** The address to listen on. Default '127.0.0.1', for this machine only; '0.0.0.0' means every address of the machine. */
  host?: string;
  /** Content of generated files by address ('/files.json'). */
  generated?: Readonly<Record<string, string>>;
  /** False omits the isolation headers, like a plain static host. */
  isolated?: boolean;
  later?: Later;
}

/** Files that are still being built; requests for them wait. */
export interface Later {
  below: readonly string[];
  until: Promise<unknown>;
}

export interface Served {
  url: string;
  /** Addresses for other machines; empty if only this machine can connect. */
  urlsForOthers: string[];
  close(): Promise<void>;
}

interface Site {
  mounts: [string, string][];
  generated: Readonly<Record<string, string>>;
  isolated: boolean;
  host: string;
  compressed: CompressedFiles;
}

/** Serves folders. `folders` maps prefixes of addresses ('/', '/models/') to folders; the longest matching prefix is used. */
export async function serveFolders(
  folders: Record<string, string>,
  { port = 0, host = '127.0.0.1', generated = {}, isolated = true, later }: ServeOptions = {},
): Promise<Served> {
  const mounts = Object.entries(folders)
    .map(([prefix, folder]): [string, string] => [prefix, resolve(folder)])
    .sort(([a], [b]) => b.length - a.length);
  const site: Site = { mounts, generated, isolated, host, compressed: new CompressedFiles() };
  let below = later?.below ?? [];
  const end = () => {
    below = [];
  };
  later?.until.then(end, end);
  const server = createServer((request, response) => {
    const { url = '/' } = request;
    const find = () => awaitFile(mounts, url, () => below.some((start) => url.startsWith(start)) && !response.destroyed);
    answer(site, find, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, done);
  });
  const { port: listening } = server.address() as AddressInfo;
  const urlOf = (address: string) => `http://${isIP(address) === 6 ? `[${address}]` : address}:${listening}/`;
  return {
    url: urlOf(isEvery(host) ? '127.0.0.1' : host),
    urlsForOthers: othersCallIt(host).map(urlOf),
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function isEvery(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** Returns the addresses at which other machines reach a server that listens on `host`. */
function othersCallIt(host: string): string[] {
  if (/^(127\.|localhost$|::1$)/.test(host)) return [];
  if (!isEvery(host)) return [host];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
}

async function answer(
  site: Site,
  find: () => Promise<FoundFile | undefined>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries({ ...kPolicy, ...(site.isolated ? kIsolation : {}) })) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-cache');
  if (!isOwnName(request.headers.host, site.host)) return refuse(response, 421, 'this server answers to its own names only');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'only GET and HEAD are served');
  const address = (request.url ?? '/').replace(/\?.*/, '');
  const text = site.generated[address];
  if (text !== undefined)
    return void response.writeHead(200, { 'Content-Type': kTypes[extname(address)]! }).end(request.method === 'HEAD' ? '' : text);
  const file = await find();
  if (!file) return refuse(response, 404, 'not found');
  response.setHeader('Content-Type', kTypes[extname(file.path)] ?? 'application/octet-stream');
  response.setHeader('Last-Modified', new Date(file.modified).toUTCString());
  const tag = `W/"${file.size}-${file.modified}"`;
  response.setHeader('ETag', tag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === tag) return void response.writeHead(304).end();
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  const bytes = encoding && (await site.compressed.get(file, encoding));
  if (bytes) response.setHeader('Content-Encoding', encoding);
  response.writeHead(200, { 'Content-Length': bytes?.length ?? file.size });
  if (request.method === 'HEAD' || bytes) return void response.end(request.method === 'HEAD' ? undefined : bytes);
  await pipeline(createReadStream(file.path), response); // closes the file if the client disconnects
}

/** Whether the request names this machine. A page of another site could otherwise read the files through DNS rebinding. */
function isOwnName(header: string | undefined, host: string): boolean {
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/
    .exec(header ?? '')?.[1]
    ?.toLowerCase()
    .replace(/^\[|\]$/g, '');
  if (name === undefined) return false;
  if (['127.0.0.1', 'localhost', '::1'].includes(name)) return true;
  if (othersCallIt(host).length === 0 && !isEvery(host)) return false;
  const machine = hostname().toLowerCase();
  return isIP(name) !== 0 || [host.toLowerCase(), machine, `${machine}.local`].includes(name);
}

interface FoundFile {
  path: string;
  size: number;
  modified: number;
}

async function awaitFile(mounts: [string, string][], address: string, mayCome: () => boolean): Promise<FoundFile | undefined> {
  for (;;) {
    const isLast = !mayCome(); // evaluated first, so that the file is looked up once more after the build
    const file = await findFile(mounts, address);
    if (file !== undefined || isLast) return file;
    await new Promise((resolve) => setTimeout(resolve, kLooksAgain));
  }
}

async function findFile(mounts: [string, string][], address: string): Promise<FoundFile | undefined> {
  let asked: string;
  try {
    asked = decodeURIComponent(new URL(address, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  const mount = mounts.find(([prefix]) => asked.startsWith(prefix));
  if (mount === undefined || asked.includes('\0')) return undefined;
  const [prefix, root] = mount;
  let path = join(root, asked.slice(prefix.length - 1));
  if (path !== root && !path.startsWith(root + sep)) return undefined;
  if (path.endsWith(sep) || path === root) path = join(path, 'index.html');
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
  // Links must not leave the folder.
  return real.startsWith(realRoot + sep) ? { path, size: found.size, modified: Math.floor(found.mtimeMs) } : undefined;
}

function refuse(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}

/** Maximum size in bytes; compressing larger files takes seconds and memory. */
const kLargest = 16e6;
/** brotli level, 0 to 11. Level 5 takes 60 ms for the engine, level 11 takes 2 s. */
const kQuality = 5;
/** Files that are sent uncompressed: compressed formats, and weights, which shrink by a tenth only and need a length for progress bars. */
const kAsTheyAre = /\.(png|jpg|woff2|safetensors)$/;
const kFormats = ['br', 'gzip'] as const;

export type Encoding = (typeof kFormats)[number];

interface FileVersion {
  path: string;
  size: number;
  modified: number;
}

function acceptedEncoding(header: string | undefined): Encoding | undefined {
  const accepted = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', quality] = part.split(/;\s*q=/).map((text) => text.trim());
    accepted.set(name, quality === undefined ? 1 : Number(quality));
  }
  return kFormats.find((format) => (accepted.get(format) ?? accepted.get('*') ?? 0) > 0);
}

class CompressedFiles {
  private readonly kept_ = new Map<string, { version: string; bytes: Promise<Buffer> }>();

  async get({ path, size, modified }: FileVersion, encoding: Encoding): Promise<Buffer | undefined> {
    if (size > kLargest || kAsTheyAre.test(path)) return undefined;
    const key = `${encoding} ${path}`;
    const version = `${size} ${modified}`;
    let entry = this.kept_.get(key);
    if (entry?.version !== version) {
      entry = { version, bytes: readFile(path).then((bytes) => compress(bytes, encoding)) };
      this.kept_.set(key, entry);
    }
    const bytes = await entry.bytes;
    return bytes.length < size ? bytes : undefined;
  }
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(bytes);
  return promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: kQuality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
}
