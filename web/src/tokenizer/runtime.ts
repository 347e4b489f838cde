import type { FolderParts } from '../sources/open_folder.js';
import type { PathResolver } from '../sources/source.js';

export interface TokenizerParts {
  paths: PathResolver;
  folders: FolderParts;
  /** Compiles peruse-tokenizer.wasm of the package, or of the folder at a URL. */
  compile(folder: string | undefined): Promise<WebAssembly.Module>;
}

let current: TokenizerParts | undefined;

export function tokenizerParts(): TokenizerParts {
  if (current === undefined) throw new Error('The package was not imported by one of its entries.');
  return current;
}

/** Called once by each entry of the package. */
export function setTokenizerParts(next: TokenizerParts): void {
  current = next;
}
