// Fetches builds in browsers.
import { describeError } from '../errors.js';
import { fetchAnywhere } from '../sources/fetching.js';

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
export function absolute(href: string): string {
  return href.startsWith('/') ? new URL(href, globalThis.location.origin).href : href;
}
