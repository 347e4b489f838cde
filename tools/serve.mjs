#!/usr/bin/env node
// A small static server for development: node tools/serve.mjs [folder] [port]. Its pages are cross-origin isolated, so
// that threads work. It listens on this machine only.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';

const kTypes = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.safetensors': 'application/octet-stream',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

const kHeaders = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

/** The file that a request means, or undefined: never one outside `folder`. */
async function locate(folder, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return undefined;
  }
  if (path.includes('\0')) return undefined;
  let file = resolve(join(folder, path));
  if (file !== folder && !file.startsWith(folder + sep)) return undefined;
  let info = await stat(file).catch(() => undefined);
  if (info?.isDirectory()) {
    if (!path.endsWith('/')) return { redirect: `${path}/` };
    file = join(file, 'index.html');
    info = await stat(file).catch(() => undefined);
  }
  return info?.isFile() ? { file, size: info.size } : undefined;
}

async function answer(folder, request, response) {
  const found = await locate(folder, request.url);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, kHeaders).end();
  } else if (!found) {
    response.writeHead(404, { ...kHeaders, 'Content-Type': kTypes['.txt'] }).end('not found\n');
  } else if (found.redirect) {
    response.writeHead(301, { ...kHeaders, Location: encodeURI(found.redirect) }).end();
  } else {
    const type = kTypes[extname(found.file)] ?? 'application/octet-stream';
    response.writeHead(200, { ...kHeaders, 'Content-Type': type, 'Content-Length': found.size });
    if (request.method === 'HEAD') response.end();
    else createReadStream(found.file).on('error', () => response.destroy()).pipe(response);
  }
}

/** Serves `folder`; resolves to { url, close } once it listens. Port 0 takes any free one. */
export async function serve(folder, port = 0) {
  const base = resolve(folder);
  const server = createServer((request, response) => void answer(base, request, response));
  await new Promise((done, failed) => server.once('error', failed).listen(port, '127.0.0.1', done));
  return { url: `http://localhost:${server.address().port}/`, close: () => server.close() };
}

await runAsProgram(import.meta.url, async () => {
  const { url } = await serve(process.argv[2] ?? '.', Number(process.argv[3] ?? 8080));
  console.log(url);
});
