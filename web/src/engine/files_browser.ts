// Where the package's files are in browsers, and how builds and scripts are loaded from there.

import { env } from '../env.js';
import { describeError, PeruseError, show } from '../errors.js';
import { letEventsIn } from '../events.js';
import { baseAddress, fetchAnywhere } from '../sources/http/fetching.js';

export const kFilesRemedy =
  "Some bundlers (esbuild, Rollup, Angular, bun build) leave the package's files behind: run 'npx peruse copy-files public/peruse' and set " +
  "env.filesPath = '/peruse/', or import from 'peruse/inline', which needs no files.";

/** Fetches and compiles a build: `name` in the folder at a URL, or else the file at `own`, next to the bundle. */
export async function compileFetched(name: string, own: () => URL, folder: string | undefined): Promise<WebAssembly.Module> {
  const url = folder === undefined ? ownAddress(name, own) : new URL(name, folder.endsWith('/') ? folder : `${folder}/`);
  const address = absolute(url.href);
  const refused = (reason: string) => new Error(`${address}: ${reason}. ${kFilesRemedy}`);
  const response = await fetchAnywhere(address, { credentials: 'same-origin' }).catch((error: unknown) => {
    throw new Error(`${address}: ${describeError(error)}`);
  });
  if (!response.ok) throw refused(`the server answered ${response.status}`);
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/html\b/i.test(type)) throw refused('the server answered with an HTML page');
  // Streaming requires this content type, which many servers do not send.
  return type.startsWith('application/wasm') ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** Throws if the script's address is unknown, as in a bundle for file: pages. */
function ownAddress(name: string, own: () => URL): URL {
  try {
    return own();
  } catch (error) {
    throw new Error(`this script has no address that ${name} could be next to (${describeError(error)}). ${kFilesRemedy}`);
  }
}

/** Resolves a path in Next 15 (Turbopack), which starts workers from a blob and replaces `new URL()` by an object with a path as href. */
function absolute(href: string): string {
  return href.startsWith('/') ? new URL(href, globalThis.location.origin).href : href;
}

const kLoaded = new Map<string, Promise<unknown>>(); // by address: another version of the package on the page has scripts of the same names

/**
 * Returns what the script `peruse-<name>.js` at this address exports. A literal import would not work: Vite 5 to 7 do not bundle a worker that
 * imports a second file, and a program's own worker contains all of peruse.js. The scripts neither import nor export, so bundlers can copy them
 * unchanged; each sets a global (tools/bundle.mjs).
 */
export function importPart<T>(name: string, href: string): Promise<T> {
  const loaded = kLoaded.get(href) ?? load(Symbol.for(`peruse.${name}`), absolute(href));
  kLoaded.set(href, loaded);
  loaded.catch(() => kLoaded.delete(href));
  return loaded as Promise<T>;
}

async function load(symbol: symbol, href: string): Promise<unknown> {
  await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
  await letEventsIn(); // A phone needs a tenth of a second to run the script.
  const part = (globalThis as unknown as Record<symbol, unknown>)[symbol];
  if (part === undefined) throw new Error(`${href} is not a part of Peruse.`);
  return part;
}

/**
 * Returns the URL of the folder with workers and builds; undefined if they are next to the script, whose address (import.meta.url) is `script`.
 * Workers receive the result.
 */
export async function filesFolder(script: string): Promise<string | undefined> {
  const { filesPath } = env;
  if (filesPath === undefined) return folderInVite(script);
  try {
    return new URL(`${filesPath}`.replace(/\/*$/, '/'), baseAddress()).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `env.filesPath ${show(filesPath)} is not a URL.`, { cause: error });
  }
}

/**
 * Finds the files under the development servers of Vite 5 to 7, which move scripts into node_modules/.vite/deps without them. The module at
 * `<file>?init` of such a server contains the file's address.
 */
async function folderInVite(script: string): Promise<string | undefined> {
  const [, base] = /^(https?:\/\/[^?]*?\/)(?:@fs|node_modules|\.[^/?]+)\/[^?]*\/deps\/[^/?]+\.js\?v=/.exec(script ?? '') ?? [];
  if (base === undefined) return undefined;
  const response = await fetch(`${base}@id/peruse/peruse-simd.wasm?import&init`).catch(() => undefined);
  const [, folder] = /"([^"]*\/)peruse-simd\.wasm\?init"/.exec((await response?.text()) ?? '') ?? [];
  return folder === undefined ? undefined : new URL(folder, script).href; // not a development server of Vite
}
