import { describeError, PeruseError } from '../errors.js';

/** Content of a file. */
export type FileContent = Uint8Array | ArrayBuffer | Blob | string;

/** The part of FileSystemDirectoryHandle that Peruse uses. */
export interface DirectoryHandle {
  readonly kind: 'directory';
  readonly name: string;
  values(): AsyncIterable<{ readonly kind: 'file' | 'directory'; readonly name: string; getFile?(): Promise<File> }>;
}

/** The part of DataTransfer that Peruse uses. */
export interface DroppedFiles {
  readonly files: ArrayLike<File>;
  readonly items: ArrayLike<{ readonly kind: string; webkitGetAsEntry(): unknown }>;
}

/** Files by name, chosen or dropped files, or a directory. */
export type FilesSource =
  | Record<string, FileContent>
  | Map<string, FileContent>
  | readonly File[]
  | ArrayLike<File>
  | DirectoryHandle
  | DroppedFiles;

type Files = Map<string, Uint8Array | Blob>;

export interface FilesSpec {
  kind: 'bytes';
  name: string;
  files: Files;
  /** Identities of blobs, which never change. */
  versions?: Map<string, string>;
  /** Buffers without other users, which can be transferred to a worker. */
  own?: ArrayBuffer[];
}

/** Copies views of larger buffers, because posting a view would copy its whole buffer. */
export function compact(spec: FilesSpec): FilesSpec {
  const files: Files = new Map();
  const own: ArrayBuffer[] = [];
  for (const [name, content] of spec.files) {
    const isPart = content instanceof Uint8Array && content.byteLength < content.buffer.byteLength;
    const sent = isPart ? content.slice() : content;
    if (isPart) own.push((sent as Uint8Array<ArrayBuffer>).buffer);
    files.set(name, sent);
  }
  return { ...spec, files, own };
}

/** Reads names now, contents later. Must not await first: dropped items are valid only during the event. */
export async function readFiles(source: FilesSource): Promise<FilesSpec> {
  const files = await gather(source);
  if (files.size === 0) throw new PeruseError('invalid_argument', 'The source holds no files.');
  return { kind: 'bytes', name: 'the given files', files, versions: versionsOf(files) };
}

const kNumbers = new WeakMap<Blob, number>();
let numbered = 0;

function versionsOf(files: Files): Map<string, string> {
  const versions = new Map<string, string>();
  for (const [name, content] of files) {
    if (!(content instanceof Blob)) continue;
    if (!kNumbers.has(content)) kNumbers.set(content, ++numbered);
    versions.set(name, `blob ${kNumbers.get(content)}`);
  }
  return versions;
}

/** Returns the files of a source by name, for later use. Call it within the drop or change event, which releases its files afterwards. */
export async function filesOf(source: FilesSource): Promise<Map<string, Uint8Array | Blob>> {
  return (await readFiles(source)).files;
}

function gather(source: FilesSource): Files | Promise<Files> {
  if (source instanceof Map) return fromEntries(source);
  if (isDataTransfer(source)) return fromDrop(source);
  if (isDirectoryHandle(source)) return readable(source.name, () => fromDirectoryHandle(source));
  if (Array.isArray(source) || isFileList(source)) return fromList(Array.from(source as ArrayLike<File>));
  return fromEntries(Object.entries(source as Record<string, FileContent>));
}

function isDataTransfer(source: object): source is DroppedFiles {
  return typeof DataTransfer === 'function' && source instanceof DataTransfer;
}

function isFileList(source: object): source is FileList {
  return typeof FileList === 'function' && source instanceof FileList;
}

function isDirectoryHandle(source: object): source is DirectoryHandle {
  const { kind, values } = source as Partial<DirectoryHandle>;
  return kind === 'directory' && typeof values === 'function';
}

function fromEntries(entries: Iterable<[string, FileContent]>): Files {
  const files: Files = new Map();
  for (const [name, content] of entries) files.set(name, toBytes(name, content));
  return files;
}

function toBytes(name: string, content: FileContent): Uint8Array | Blob {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array || content instanceof Blob) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  throw new PeruseError('invalid_argument', `The content of '${name}' must be a Uint8Array, an ArrayBuffer, a Blob or a string.`);
}

/** Folders of sentence-transformers' modules, the only subfolders of a model. */
const kModuleFolder = /^\d+_\w+$/;

/** Paths are relative to the chosen folder. Ignores files in subfolders other than modules. */
function fromList(list: readonly File[]): Files {
  const files: Files = new Map();
  list.forEach((file, index) => {
    if (!(file instanceof Blob) || typeof file.name !== 'string') {
      throw new PeruseError('invalid_argument', `Item ${index} of the list is not a File.`);
    }
    const path = (file.webkitRelativePath || file.name).split('/');
    if (path.length <= 2) files.set(path.at(-1)!, file);
    else if (path.length === 3 && kModuleFolder.test(path[1]!)) files.set(path.slice(1).join('/'), file);
  });
  return files;
}

async function fromDirectoryHandle(directory: DirectoryHandle): Promise<Files> {
  const files: Files = new Map();
  for await (const entry of directory.values()) {
    if (entry.kind === 'file' && entry.getFile) files.set(entry.name, await entry.getFile());
    if (entry.kind !== 'directory' || !kModuleFolder.test(entry.name) || !isDirectoryHandle(entry)) continue;
    for (const [name, content] of await fromDirectoryHandle(entry)) files.set(`${entry.name}/${name}`, content);
  }
  return files;
}

async function fromDrop(drop: DroppedFiles): Promise<Files> {
  const items = Array.from(drop.items).filter((item) => item.kind === 'file');
  const entries = items.map((item) => item.webkitGetAsEntry() as FileSystemEntry | null);
  const directories = entries.filter((entry) => entry?.isDirectory === true) as FileSystemDirectoryEntry[];
  if (directories.length === 0) return fromList(Array.from(drop.files));
  if (entries.length > 1) throw new PeruseError('invalid_argument', 'Drop either one folder or the files of one model.');
  return readable(directories[0]!.name, () => fromDirectoryEntry(directories[0]!));
}

async function fromDirectoryEntry(directory: FileSystemDirectoryEntry): Promise<Files> {
  const files: Files = new Map();
  const reader = directory.createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (some.length === 0) return files; // readEntries() returns at most a hundred entries per call
    for (const entry of some) {
      if (entry.isDirectory && kModuleFolder.test(entry.name)) {
        const within = await fromDirectoryEntry(entry as FileSystemDirectoryEntry);
        for (const [name, content] of within) files.set(`${entry.name}/${name}`, content);
      }
      if (!entry.isFile) continue;
      files.set(
        entry.name,
        await new Promise<File>((resolve, reject) => {
          (entry as FileSystemFileEntry).file(resolve, reject);
        }),
      );
    }
  }
}

async function readable(name: string, read: () => Promise<Files>): Promise<Files> {
  try {
    return await read();
  } catch (error) {
    throw new PeruseError('not_found', `The folder '${name}' can't be read: ${describeError(error)}.`, { cause: error });
  }
}
