#!/usr/bin/env node
// A static server for a folder, on this machine only: node tools/serve.mjs [folder] [port] [--no-isolation]
// It sends the headers that make a page cross-origin isolated, which WebAssembly threads need, and a content security
// policy as strict as the demo page's own, which also binds workers.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';

const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',  // Shown by browsers, where text/markdown would be saved.
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
};

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

const policy = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self'; " +
    "img-src 'self'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Serves `folder` on 127.0.0.1. Port 0 takes any free one. Without `isolated` the isolation headers are left out, as on a
 * plain static host. Resolves to { url, close() }.
 */
export async function serve(folder, { port = 0, isolated = true } = {}) {
  const root = resolve(folder);
  const server = createServer((request, response) => {
    answer(root, isolated, request, response).catch(() => response.destroy());
  });
  await new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, '127.0.0.1', done);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((done) => (server.close(done), server.closeAllConnections())),
  };
}

async function answer(root, isolated, request, response) {
  for (const [name, value] of Object.entries({ ...policy, ...(isolated ? isolation : {}) })) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-cache');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405, 'only GET and HEAD are served');
  const file = await findFile(root, request.url);
  if (!file) return refuse(response, 404, 'not found');
  response.writeHead(200, {
    'Content-Type': types[extname(file.path)] ?? 'application/octet-stream',
    'Content-Length': file.size,
  });
  if (request.method === 'HEAD') return response.end();
  createReadStream(file.path).on('error', () => response.destroy()).pipe(response);
}

/** The file inside `root` that the address names; a folder stands for its index.html. */
async function findFile(root, address) {
  let path;
  try {
    path = join(root, decodeURIComponent(new URL(address, 'http://localhost').pathname));
  } catch {
    return undefined;
  }
  if (path !== root && !path.startsWith(root + sep)) return undefined;
  if (path.endsWith(sep) || path === root) path = join(path, 'index.html');
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? { path, size: found.size } : undefined;
}

function refuse(response, status, words) {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${words}\n`);
}

await runAsProgram(import.meta.url, async () => {
  const words = process.argv.slice(2);
  const [folder = 'build/site', port = '8000'] = words.filter((word) => !word.startsWith('--'));
  const { url } = await serve(folder, { port: Number(port), isolated: !words.includes('--no-isolation') });
  console.log(`Serving ${folder} at ${url}`);
});
