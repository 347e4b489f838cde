// Locates the package's own files in Node.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions, workerData } from 'node:worker_threads';
import { describe } from '../errors.js';

/**
 * A file of the package. `path` is relative to the package's folder web/. `own` returns its address next to the calling module, written as
 * `return new URL('...', import.meta.url)`, for which bundlers and tools that copy used files search (@vercel/nft overlooks it in an arrow
 * function without a block).
 */
export interface InstalledFile {
  path: string;
  own(): URL;
}

/** URLs by path, passed from the thread that started this worker, because a bundler may have moved worker and files apart. */
export interface FilesOfWorker {
  peruseFiles?: Record<string, string>;
  /** The worker's script if it is not a file (peruse/inline). */
  peruseCode?: string;
}

const given = workerData as FilesOfWorker | null | undefined;
let code = given?.peruseCode;

/** Makes this thread start workers from this script. */
export function embedWorker(script: string): void {
  code = script;
}

/**
 * Starts a worker or a thread of the engine. `uses` lists files of the package that it may need. Throws an Error if the file is missing.
 */
export function newNodeWorker(file: InstalledFile, uses: readonly InstalledFile[] = []): Worker {
  const options = { name: 'peruse', execArgv: [] };
  if (code === undefined) return construct(installedFile(file), { ...options, workerData: filesForWorker([file, ...uses]) });
  return construct(code, { ...options, eval: true, workerData: { peruseCode: code } satisfies FilesOfWorker });
}

/** `new Worker()`, written so that Turbopack does not detect it: it would include every file of this folder. */
function construct(script: string | URL, options: WorkerOptions): Worker {
  return Reflect.construct(Worker, [script, options]) as Worker;
}

/** Finds a file of the package. Throws an Error that lists the searched locations. */
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

/** Whether the file exists; the result is cached. */
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

/** Addresses of files that a worker may need, without missing ones. */
function filesForWorker(files: readonly InstalledFile[]): FilesOfWorker {
  const found: Record<string, string> = {};
  for (const file of files) {
    try {
      found[file.path] = installedFile(file).href;
    } catch {} // the worker reports a file that it needs
  }
  return { peruseFiles: found };
}

/**
 * The path in the program's node_modules: a bundler may have moved this code into a program's file. (Not computed from import.meta.url,
 * because Turbopack would include all files below the path.)
 */
function inProject(path: string): URL {
  const manifest = createRequire(join(process.cwd(), 'package.json')).resolve('peruse/package.json');
  return pathToFileURL(join(dirname(manifest), 'web', path));
}
