import type { FileAccess } from '../sources/file_access.js';
import { healing } from '../sources/folders/healing.js';
import { openFolder } from '../sources/folders/open_folder.js';
import type { WithFolder } from './tokenizer.js';

/** Reads a tokenizer's files in this thread. */
export function readHere(access: FileAccess): WithFolder {
  return (spec, _, use) => healing(async (opened) => use(await openFolder(spec, { ...access, opened })));
}
