// A build's file where files are fetched.
import { describe } from '../errors.js';
import { fetchAnywhere } from '../sources/fetching.js';
import { kFilesRemedy } from './files_browser.js';

/** Compiles the build of that name: `own`, next to the bundle, or of a folder whose URL is given. */
export async function compileFetched(name: string, own: () => URL, folder: string | undefined): Promise<WebAssembly.Module> {
  const url = folder === undefined ? ownAddress(name, own) : new URL(name, folder.endsWith('/') ? folder : `${folder}/`);
  const refused = (reason: string) => new Error(`${url.href}: ${reason}. ${kFilesRemedy}`);
  const response = await fetchAnywhere(url.href, { credentials: 'same-origin' }).catch((error: unknown) => {
    throw new Error(`${url.href}: ${describe(error)}`);
  });
  if (!response.ok) throw refused(`the server answered ${response.status}`);
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/html\b/i.test(type)) throw refused('the server answered with an HTML page');
  // Streams are compiled only where the server says that they are WebAssembly; many say nothing.
  return type.startsWith('application/wasm') ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** Throws if the script does not know its address, as in a bundle for pages of file:. */
function ownAddress(name: string, own: () => URL): URL {
  try {
    return own();
  } catch (error) {
    throw new Error(`this script has no address that ${name} could be next to (${describe(error)}). ${kFilesRemedy}`);
  }
}
