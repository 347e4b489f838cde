// An HTTP server on 127.0.0.1 that serves files from memory, can misbehave, and records requests.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
export type Content = Uint8Array | string | Handler;

export interface ModelServer {
  url: string;
  files: Map<string, Content>;
  requests: string[];
  calls: { method: string; path: string; headers: IncomingMessage['headers'] }[];
  close(): Promise<void>;
}

const kTypes: Record<string, string> = {
  json: 'application/json',
  txt: 'text/plain',
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  wasm: 'application/wasm',
};

export async function startModelServer(files: Record<string, Content>, headers: Record<string, string> = {}): Promise<ModelServer> {
  const served = new Map(Object.entries(files));
  const requests: string[] = [];
  const calls: ModelServer['calls'] = [];
  const server = await startServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname.slice(1));
    requests.push(path);
    calls.push({ method: request.method ?? '', path, headers: request.headers });
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const content = served.get(path);
    if (content === undefined) return void response.writeHead(404).end('not here');
    if (typeof content === 'function') return content(request, response);
    const type = kTypes[path.split('.').pop() ?? ''] ?? 'application/octet-stream';
    const body = Buffer.from(content as string);
    response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body);
  });
  return { ...server, files: served, requests, calls };
}

/** Starts a server on a free port. */
export async function startServer(handler: Handler): Promise<Pick<ModelServer, 'url' | 'close'>> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
