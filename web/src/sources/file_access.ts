import type { Hasher } from '../cache/sha256.js';
import type { CustomCache } from '../env.js';
import type { FetchFile } from './fetching.js';
import type { ImportOnnx } from './onnx_part.js';
import type { ModelFolder } from './source.js';

/** How a platform reads models' files. Absent members mean those of a browser. */
export interface FileAccess {
  fetchFile?: FetchFile;
  sha256?: () => Hasher;
  openDiskFolder?: (path: string) => ModelFolder;
  /** Opens the platform's cache of downloads, if it is not the browser's. */
  openCache?: (folder: string | undefined) => Promise<CustomCache | undefined>;
  importOnnx?: ImportOnnx;
  notice?: (sentence: string) => void;
}
