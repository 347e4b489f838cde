// Where the package's files (workers, builds) are in browsers if they are not next to the script that loads them.
import { env } from '../env.js';
import { PeruseError, show } from '../errors.js';

/** Part of each error about a file that is not there. */
export const kFilesRemedy =
  "Some bundlers (esbuild, Rollup, Angular, bun build) leave the package's files behind: run 'npx peruse copy-files public/peruse' and set " +
  "env.filesPath = '/peruse/', or import from 'peruse/inline', which needs no files.";

/** URL of the folder that holds the files; undefined if they are next to the script. `script`: its own address, import.meta.url. */
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
 * The development servers of Vite 5 to 7 bundle packages into a folder of their own (node_modules/.vite/deps) and leave the files behind
 * that the packages address by `new URL()`. The module that such a server makes of `<file>?init` names the file's address. Vite 8 needs
 * none of this.
 */
async function folderInVite(script: string): Promise<string | undefined> {
  const [, base] = /^(https?:\/\/[^?]*?\/)(?:@fs|node_modules|\.[^/?]+)\/[^?]*\/deps\/[^/?]+\.js\?v=/.exec(script ?? '') ?? [];
  if (base === undefined) return undefined;
  const response = await fetch(`${base}@id/peruse/peruse-simd.wasm?import&init`).catch(() => undefined);
  const [, folder] = /"([^"]*\/)peruse-simd\.wasm\?init"/.exec((await response?.text()) ?? '') ?? [];
  return folder === undefined ? undefined : new URL(folder, script).href; // Unknown: the files are next to the script.
}
