// Locates workers and builds in browsers if they are not next to the script that loads them. Workers receive the result.
import { baseAddress } from '../base_address.js';
import { env } from '../env.js';
import { PeruseError, show } from '../errors.js';

/** Returns the URL of the folder with the files; undefined if they are next to the script, whose address (import.meta.url) is `script`. */
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
