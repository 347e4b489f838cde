import type { Hasher } from '../cache/sha256.js';
import type { CustomCache } from '../env.js';
import type { Port } from '../web_types.js';
import type { healing, OpenedFolders } from './folders/healing.js';
import type { CheckedModel, StoredModels } from './folders/stored_models.js';
import type { FetchFile } from './http/fetching.js';
import type { ImportOnnx } from './onnx_part.js';
import type { ModelFolder, SourceSpec, StoreChoice, UrlSpec } from './source.js';
import type { FileContent } from './source_files.js';

/** Parts of this folder that a page loads on use (folder_kit.ts). */
export interface FolderKit {
  checkModel(spec: UrlSpec, access: FileAccess, update: boolean, signal: AbortSignal): Promise<CheckedModel>;
  openFolder(source: SourceSpec, access: FileAccess): Promise<ModelFolder>;
  openOpfs(version: number): Promise<CustomCache>;
  openStored(keep: StoreChoice, access: FileAccess): Promise<StoredModels | undefined>;
  healing: typeof healing;
  /** The files of a q8 or q4 checkpoint with float weights; undefined if they are floats, or of precision `unless`, already. */
  readWidened(
    spec: SourceSpec,
    unless: string | undefined,
    access: FileAccess,
    signal: AbortSignal,
  ): Promise<Map<string, FileContent> | undefined>;
  serveFolder(folder: ModelFolder, port: Port, signal: AbortSignal): void;
}

/** How a platform reads models' files. Absent members mean those of a browser. */
export interface FileAccess {
  fetchFile?: FetchFile;
  /** Whether this thread sends the requests of its workers, because a program may have replaced fetch() in it. */
  fetchesHere?: boolean;
  sha256?: () => Hasher;
  openDiskFolder?: (path: string) => ModelFolder;
  /** Opens the platform's cache of downloads, if it is not the browser's. */
  openCache?: (folder: string | undefined) => Promise<CustomCache | undefined>;
  /** Opens the origin's private file system (cache/cache_opfs.ts). */
  openOpfs?: (version: number) => Promise<CustomCache>;
  importOnnx?: ImportOnnx;
  /** Loads what a page's own thread needs to read files. Workers have it already. */
  kit?: () => Promise<FolderKit>;
  notice?: (sentence: string) => void;
  /** The folders that the load has opened (healing.ts). */
  opened?: OpenedFolders;
}
