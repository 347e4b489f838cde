// Where the package's own files are in Node.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions, workerData } from 'node:worker_threads';
import { describe } from '../errors.js';

/**
 * A file of the package. `path`: from the package's folder web/. `own`: returns its address next to the calling module, spelled out as
 * `return new URL('...', import.meta.url)`: programs that bundle a server, or copy only the files that it uses, look for that (and
 * @vercel/nft overlooks it in an arrow function without a block).
 */
export interface InstalledFile {
  path: string;
  own(): URL;
}

/** What the thread that started this worker knows of the files: URLs by path. A bundler may have moved worker and files apart. */
export interface FilesOfWorker {
  peruseFiles?: Record<string, string>;
  /** The worker's script itself, where it is no file (peruse/inline). */
  peruseCode?: string;
}

const given = workerData as FilesOfWorker | null | undefined;
let code = given?.peruseCode;

/** From now on workers of this thread are started from this script. */
export function embedWorker(script: string): void {
  code = script;
}

/** Starts a worker, or a thread of the engine. `uses`: files of the package that it may need. Throws an Error if the file is not there. */
export function newNodeWorker(file: InstalledFile, uses: readonly InstalledFile[] = []): Worker {
  const options = { name: 'peruse', execArgv: [] };
  if (code === undefined) return construct(installedFile(file), { ...options, workerData: filesForWorker([file, ...uses]) });
  return construct(code, { ...options, eval: true, workerData: { peruseCode: code } satisfies FilesOfWorker });
}

/** `new Worker()`, in words that Turbopack does not read: it would take every file of this folder for one that may be the worker. */
function construct(script: string | URL, options: WorkerOptions): Worker {
  return Reflect.construct(Worker, [script, options]) as Worker;
}

/** Finds a file of the package. Throws an Error that lists the places where it is not. */
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
      tried.push(describe(error));
    }
  }
  throw new Error(
    `The package's file web/${path} is not there (${[...new Set(tried)].join('; ')}): put node_modules/peruse next to the program.`,
  );
}

/** Whether the file is there. It does not come later. */
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

/** Addresses of the files that a worker may need. Leaves out missing files. */
function filesForWorker(files: readonly InstalledFile[]): FilesOfWorker {
  const found: Record<string, string> = {};
  for (const file of files) {
    try {
      found[file.path] = installedFile(file).href;
    } catch {} // The worker reports it if it needs the file.
  }
  return { peruseFiles: found };
}

/**
 * If a bundler has put this code into a program's own file, the package itself may still be installed next to the program. (Nothing here is
 * computed from import.meta.url: Turbopack would take all files below the computed path into the program.)
 */
function inProject(path: string): URL {
  const manifest = createRequire(join(process.cwd(), 'package.json')).resolve('peruse/package.json');
  return pathToFileURL(join(dirname(manifest), 'web', path));
}
