// A build's file in Node: on disk, beside the bundles for pages. Each is compiled once in a thread.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installedFile } from './installed_node.js';

const kCompiled = new Map<string, Promise<WebAssembly.Module>>();

/** Compiles the build of that name, of the package or of the folder whose URL is given. */
export function compileRead(name: string, folder: string | undefined): Promise<WebAssembly.Module> {
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
