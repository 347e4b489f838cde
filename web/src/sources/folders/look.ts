// Asks folders about files without reading them, and combines folders.
import type { FileFacts, MissingFile, ModelFolder } from '../source.js';

export async function lookAt(
  folder: Pick<ModelFolder, 'open' | 'look'>,
  file: string,
  signal: AbortSignal,
): Promise<FileFacts | MissingFile> {
  if (folder.look) return folder.look(file, signal);
  const found = await folder.open(file, signal);
  if (!found.found) return found;
  await found.close();
  return { found: true, size: found.size, version: found.version, cached: true };
}

/** A folder whose files are those of `first`, and those of `second` that `first` lacks. */
export function firstOf(first: ModelFolder, second: ModelFolder): ModelFolder {
  return {
    async open(file, signal, firstBytes) {
      const own = await first.open(file, signal, firstBytes);
      return own.found ? own : second.open(file, signal, firstBytes);
    },
    async look(file, signal) {
      const own = await lookAt(first, file, signal);
      return own.found ? own : lookAt(second, file, signal);
    },
  };
}

/** A folder within a folder. `prefix` ends with a slash. */
export function folderWithin(folder: ModelFolder, prefix: string): ModelFolder {
  return {
    open: (file, signal, firstBytes) => folder.open(prefix + file, signal, firstBytes),
    look: (file, signal) => lookAt(folder, prefix + file, signal),
    openInForm: async (file, form, signal) => folder.openInForm?.(prefix + file, form, signal),
  };
}
