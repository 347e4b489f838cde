// A static server on this machine only, for the demo page. It sends the headers that make a page cross-origin isolated, which
// WebAssembly threads need, and a content security policy as strict as the demo page's own, which also binds workers.
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, resolve, sep } from 'node:path';

const kTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/plain; charset=utf-8', // Shown by browsers, where text/markdown would be saved.
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

const kIsolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const kPolicy = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; " +
    "connect-src 'self' https: http://localhost:* http://127.0.0.1:*; style-src 'self'; " +
    "img-src 'self'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
};

const kLooksAgain = 200; // Milliseconds.

export interface ServeOptions {
  /** 0 takes any free one. */
  port?: number;
  /** Without it the isolation headers are left out, as on a plain static host. */
  isolated?: boolean;
  later?: Later;
}

/** Files that may still come: who asks for one of them waits. */
export interface Later {
  /** How their addresses start. */
  below: readonly string[];
  /** Settles when the last has come. */
  until: Promise<unknown>;
}

/**
 * Serves folders on 127.0.0.1: `folders` names each by the start of its addresses ('/', '/models/'); the longest that fits is
 * taken.
 */
export async function serveFolders(
  folders: Record<string, string>,
  { port = 0, isolated = true, later }: ServeOptions = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const mounts = Object.entries(folders)
    .map(([prefix, folder]): [string, string] => [prefix, resolve(folder)])
    .sort(([a], [b]) => b.length - a.length);
  let below = later?.below ?? [];
  const end = () => {
    below = [];
  };
  later?.until.then(end, end);
  const server = createServer((request, response) => {
    const { url = '/' } = request;
    const find = () => awaitFile(mounts, url, () => below.some((start) => url.startsWith(start)) && !response.destroyed);
    answer(find, isolated, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', done);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  find: () => Promise<FoundFile | undefined>,
  isolated: boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries({ ...kPolicy, ...(isolated ? kIsolation : {}) })) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-cache');
  if (!isOwnName(request.headers.host)) return refuse(response, 421, 'only this machine is served, by its own name');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'only GET and HEAD are served');
  const file = await find();
  if (!file) return refuse(response, 404, 'not found');
  response.writeHead(200, { 'Content-Type': kTypes[extname(file.path)] ?? 'application/octet-stream', 'Content-Length': file.size });
  if (request.method === 'HEAD') return void response.end();
  createReadStream(file.path)
    .on('error', () => response.destroy())
    .pipe(response);
}

/** Whether the page was asked for by a name of this machine: under another, a foreign page could read what lies here (DNS rebinding). */
function isOwnName(host: string | undefined): boolean {
  return host !== undefined && /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i.test(host);
}

interface FoundFile {
  path: string;
  size: number;
}

/** The file that the address names, as soon as it is there. */
async function awaitFile(mounts: [string, string][], address: string, mayCome: () => boolean): Promise<FoundFile | undefined> {
  for (;;) {
    const isLast = !mayCome(); // Asked first: what came in the end is looked for once more.
    const file = await findFile(mounts, address);
    if (file !== undefined || isLast) return file;
    await new Promise((resolve) => setTimeout(resolve, kLooksAgain));
  }
}

/** The file that the address names, if it lies within its folder; a folder stands for its index.html. */
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
  return real.startsWith(realRoot + sep) ? { path, size: found.size } : undefined; // A link may not lead out of the folder.
}

function refuse(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}
