// Compiles builds from disk in Node, each once per thread.
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type InstalledFile, installedFile } from './installed_node.js';

const kCompiled = new Map<string, Promise<WebAssembly.Module>>();

export async function compileRead(file: InstalledFile, folder: string | undefined): Promise<WebAssembly.Module> {
  const url = folder === undefined ? installedFile(file) : new URL(basename(file.path), folder.endsWith('/') ? folder : `${folder}/`);
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
