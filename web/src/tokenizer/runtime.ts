import type { BuildAccess } from '../engine/start_module.js';
import type { FileAccess } from '../sources/file_access.js';
import type { PathResolver } from '../sources/source.js';

export interface TokenizerRuntime extends FileAccess, BuildAccess<'tokenizer'> {
  paths: PathResolver;
}

let current: TokenizerRuntime | undefined;

export function tokenizerRuntime(): TokenizerRuntime {
  if (current === undefined) throw new Error('The package was not imported by one of its entries.');
  return current;
}

/** Called once by each entry of the package. */
export function setTokenizerRuntime(next: TokenizerRuntime): void {
  current = next;
}
