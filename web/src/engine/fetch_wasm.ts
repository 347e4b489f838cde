// A build's file where files are fetched.
import { describe } from '../errors.js';
import { fetchAnywhere } from '../sources/fetching.js';

/** Compiles the build of that name: `own`, beside the bundle, or of a folder whose URL is given. */
export async function compileFetched(name: string, own: () => URL, folder: string | undefined): Promise<WebAssembly.Module> {
  const url = folder === undefined ? own() : new URL(name, folder.endsWith('/') ? folder : `${folder}/`);
  const response = await fetchAnywhere(url.href, { credentials: 'same-origin' }).catch((error: unknown) => {
    throw new Error(`${url.href}: ${describe(error)}`);
  });
  if (!response.ok) throw new Error(`${url.href}: the server answered ${response.status}`);
  // Streams are compiled only where the server says that they are WebAssembly; many say nothing.
  const isTyped = response.headers.get('content-type')?.startsWith('application/wasm') === true;
  return isTyped ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}
