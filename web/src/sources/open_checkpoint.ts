import { Totals } from '../progress.js';
import type { FileAccess } from './file_access.js';
import { StaticFolder } from './folder_static.js';
import { kForms } from './model_files.js';
import { loadOnnxPart } from './onnx_part.js';
import { openFolder } from './open_folder.js';
import type { Reading } from './read_files.js';
import type { SourceSpec } from './source.js';

/** Opens a source, without progress reports. */
export async function openCheckpoint(source: SourceSpec, access: FileAccess, signal: AbortSignal): Promise<Reading> {
  const folder = await openFolder(source, access);
  return { name: source.name, folder, report: () => {}, signal, totals: new Totals(kForms) };
}

/** Like openCheckpoint(), but static embeddings are read as a sentence-transformers folder. `route` chooses modules of a Router. */
export async function openWithStatic(source: SourceSpec, access: FileAccess, signal: AbortSignal, route?: string): Promise<Reading> {
  const opened = await openCheckpoint(source, access, signal);
  const part = () => loadOnnxPart(access.importOnnx, source.name);
  const folder = route === undefined ? undefined : await (await part()).openRoute(opened.folder, route, signal);
  return { ...opened, folder: new StaticFolder(folder ?? opened.folder, part) };
}
