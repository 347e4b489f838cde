// The engine's files in Node: on disk, beside the bundles for pages. Each is compiled once in a thread.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';
import { installedFile } from './installed_node.js';
import type { Build, WasmParts } from './builds.js';

const kCompiled = new Map<string, Promise<WebAssembly.Module>>();

export const nodeWasm: WasmParts = { compile, startHelper };

function compile(build: Build, folder: string | undefined): Promise<WebAssembly.Module> {
  const name = `peruse-${build}.wasm`;
  const url = folder === undefined ? installedFile(`bundle/${name}`) : new URL(name, folder.endsWith('/') ? folder : `${folder}/`);
  const compiled = kCompiled.get(url.href) ?? read(url).then((bytes) => WebAssembly.compile(bytes));
  kCompiled.set(url.href, compiled);
  compiled.catch(() => kCompiled.delete(url.href));
  return compiled;
}

async function read(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  if (url.protocol === 'file:') return readFile(fileURLToPath(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Keeps the process alive until it has loaded, as what waits for it does; from then on it is idle between calls. */
function startHelper(): HelperWorker {
  const worker = new Worker(installedFile('dist/worker/worker_node.js'), { name: 'peruse', execArgv: [] });
  const helper = new Helper(
    (message) => worker.postMessage(message),
    () => void worker.terminate(),
    () => worker.unref(),
  );
  worker.on('message', (data) => helper.receive(data));
  worker.on('error', (error: Error) => helper.fail(error));
  return helper;
}
