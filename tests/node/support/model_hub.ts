// A hub on 127.0.0.1 with a small real model: files by commit, tags, byte ranges, and faults.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from './model_server.js';

export const kSentiment = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny', import.meta.url));

export type Files = Map<string, Uint8Array>;
/** Answers a request itself and returns true, or returns false. */
export type Fault = (request: IncomingMessage, response: ServerResponse, file: string) => boolean;

export function filesOf(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return new Map(names.filter((name) => statSync(join(folder, name)).isFile()).map((name) => [name, readFileSync(join(folder, name))]));
}

export interface Hub {
  origin: string;
  /** The files of the branch main, and of folders at an address of their own. */
  files: Files;
  /** The commit of main; undefined if the hub sends none. */
  commit: string | undefined;
  fault: Fault;
  ranges: boolean;
  log: string[];
  close(): Promise<void>;
}

export async function startHub(files = filesOf(kSentiment)): Promise<Hub> {
  const hub: Hub = { origin: '', files, commit: undefined, fault: () => false, ranges: false, log: [], close: async () => {} };
  const server = await startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const file = decodeURIComponent(pathname.replace(/^\/[^/]+\/[^/]+\/resolve\/[^/]+\//, '').replace(/^\//, ''));
    hub.log.push(`${request.method} ${file}`);
    if (hub.commit !== undefined) response.setHeader('x-repo-commit', hub.commit);
    if (!hub.fault(request, response, file)) serve(request, response, hub.files.get(file), hub.ranges);
  });
  return Object.assign(hub, { origin: server.url, close: server.close });
}

/** Answers with a file, or with 404. */
export function serve(request: IncomingMessage, response: ServerResponse, body: Uint8Array | undefined, ranges = false): void {
  if (body === undefined) return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Entry not found');
  const etag = `"${createHash('sha1').update(body).digest('hex')}"`;
  const headers = { 'content-type': 'application/octet-stream', etag };
  const [, start] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? [];
  const isCurrent = (request.headers['if-range'] ?? etag) === etag;
  if (ranges && start !== undefined && isCurrent && Number(start) < body.length) {
    const rest = body.subarray(Number(start));
    const range = `bytes ${start}-${body.length - 1}/${body.length}`;
    response.writeHead(206, { ...headers, 'content-length': rest.length, 'content-range': range }).end(rest);
    return;
  }
  response.writeHead(200, { ...headers, 'content-length': body.length }).end(request.method === 'HEAD' ? undefined : body);
}

export function sends(
  body: string | Uint8Array,
  type?: string,
  status = 200,
): (request: IncomingMessage, response: ServerResponse) => true {
  return (request, response) => {
    response.writeHead(status, { 'content-length': Buffer.from(body as string).length, ...(type && { 'content-type': type }) });
    response.end(request.method === 'HEAD' ? undefined : body);
    return true;
  };
}
