// Locates the package's files (workers, builds) in browsers if they are not next to the script that loads them.
import { env } from '../env.js';
import { PeruseError, show } from '../errors.js';

/** Ends each error about a missing file. */
export const kFilesRemedy =
  "Some bundlers (esbuild, Rollup, Angular, bun build) leave the package's files behind: run 'npx peruse copy-files public/peruse' and set " +
  "env.filesPath = '/peruse/', or import from 'peruse/inline', which needs no files.";

/** Returns the URL of the folder with the files; undefined if they are next to the script. `script` is its own address, import.meta.url. */
export async function filesFolder(script: string): Promise<string | undefined> {
  const { filesPath } = env;
  if (filesPath === undefined) return folderInVite(script);
  const base = typeof document === 'undefined' ? globalThis.location?.href : document.baseURI;
  try {
    return new URL(`${filesPath}`.replace(/\/*$/, '/'), base).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `env.filesPath ${show(filesPath)} is not a URL.`, { cause: error });
  }
}

/**
 * The development servers of Vite 5 to 7 bundle packages into a separate folder (node_modules/.vite/deps), without the files that packages
 * address by `new URL()`. The module that such a server returns for `<file>?init` contains the file's address. Vite 8 does not need this.
 */
async function folderInVite(script: string): Promise<string | undefined> {
  const [, base] = /^(https?:\/\/[^?]*?\/)(?:@fs|node_modules|\.[^/?]+)\/[^?]*\/deps\/[^/?]+\.js\?v=/.exec(script ?? '') ?? [];
  if (base === undefined) return undefined;
  const response = await fetch(`${base}@id/peruse/peruse-simd.wasm?import&init`).catch(() => undefined);
  const [, folder] = /"([^"]*\/)peruse-simd\.wasm\?init"/.exec((await response?.text()) ?? '') ?? [];
  return folder === undefined ? undefined : new URL(folder, script).href; // not Vite: the files are next to the script
}
