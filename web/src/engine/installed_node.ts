import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions, workerData } from 'node:worker_threads';
import { describeError } from '../errors.js';

/**
 * A file of the package. `path` is relative to web/. `own` returns its address next to the calling module. Its body must be
 * `return new URL('...', import.meta.url)` in a block: bundlers and @vercel/nft search for this form.
 */
export interface InstalledFile {
  path: string;
  own(): URL;
}

/** URLs by path, passed to a worker, because a bundler may have moved worker and files apart. */
export interface FilesOfWorker {
  peruseFiles?: Record<string, string>;
  peruseCode?: string;
}

const given = workerData as FilesOfWorker | null | undefined;
let code = given?.peruseCode;

export function embedWorker(script: string): void {
  code = script;
}

/** Starts a worker or a thread of the engine. `uses` lists files that it may need. Throws an Error if its own file is missing. */
export function newNodeWorker(file: InstalledFile, uses: readonly InstalledFile[] = []): Worker {
  const options = { name: 'peruse', execArgv: [] };
  if (code === undefined) return construct(installedFile(file), { ...options, workerData: filesForWorker([file, ...uses]) });
  return construct(code, { ...options, eval: true, workerData: { peruseCode: code } satisfies FilesOfWorker });
}

/** Calls `new Worker()` in a form that Turbopack does not detect; otherwise it would include every file of this folder. */
function construct(script: string | URL, options: WorkerOptions): Worker {
  return Reflect.construct(Worker, [script, options]) as Worker;
}

/** Finds a file of the package. Throws an Error with the searched locations. */
export function installedFile(file: InstalledFile): URL {
  const { path } = file;
  const known = given?.peruseFiles?.[path];
  if (known !== undefined) return new URL(known);
  const tried: string[] = [];
  for (const place of [() => file.own(), () => inProject(path)]) {
    try {
      const url = new URL(place());
      if (url.protocol === 'file:' && existsSync(fileURLToPath(url))) return url;
      tried.push(url.href);
    } catch (error) {
      tried.push(describeError(error));
    }
  }
  throw new Error(
    `The package's file web/${path} is missing. Searched: ${[...new Set(tried)].join('; ')}. Put node_modules/peruse next to the program.`,
  );
}

export function isInstalled(file: InstalledFile): boolean {
  const known = kInstalled.get(file.path);
  if (known !== undefined) return known;
  let found = true;
  try {
    installedFile(file);
  } catch {
    found = false;
  }
  kInstalled.set(file.path, found);
  return found;
}

const kInstalled = new Map<string, boolean>();

function filesForWorker(files: readonly InstalledFile[]): FilesOfWorker {
  const found: Record<string, string> = {};
  for (const file of files) {
    try {
      found[file.path] = installedFile(file).href;
    } catch {} // ignored: the worker reports an error if it needs the file
  }
  return { peruseFiles: found };
}

/** The path in the program's node_modules, in case a bundler moved this code. Turbopack would include all files below import.meta.url. */
function inProject(path: string): URL {
  const manifest = createRequire(join(process.cwd(), 'package.json')).resolve('peruse/package.json');
  return pathToFileURL(join(dirname(manifest), 'web', path));
}

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
