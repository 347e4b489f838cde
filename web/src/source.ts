// Where a model's files come from: what the caller may say, and the plain form that crosses to the worker.
import { PeruseError } from './errors.js';

export type FileContent = Uint8Array | ArrayBuffer | Blob | string;

/**
 * Where the model is:
 * - a URL (`https://.../`, `./models/x/`, a `URL`): a folder; relative ones are relative to the page;
 * - a hub id (`user/model`);
 * - in Node, the path of a folder;
 * - files: an object or a Map from name to content, or a list of `File`s.
 */
export type Source = string | URL | Record<string, FileContent> | Map<string, FileContent> | readonly File[];

/** A source in plain form. `name` is how messages and progress call it. */
export type SourceSpec =
  | { kind: 'url'; name: string; base: string }
  | { kind: 'folder'; name: string; path: string }
  | { kind: 'bytes'; name: string; files: Map<string, Uint8Array | Blob> };

/** A file that was found. */
export interface ModelFile {
  found: true;
  /** Its URL or path. */
  where: string;
  /** Its length in bytes; 0 if unknown. */
  size: number;
  /** Its bytes, in order, once. A chunk is valid until the next is asked for. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Lets go of a file whose bytes are not wanted. */
  close(): Promise<void>;
}

/** A file that isn't there, and how we know. */
export interface MissingFile {
  found: false;
  where: string;
  why: string;
}

/** A source opened. */
export interface ModelFolder {
  /** Throws if it can't be known whether the file is there. */
  open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile>;
}

export interface SourceOptions {
  /** Branch, tag or commit of a hub id. Default 'main'. */
  revision?: string;
}

/** Settings for the whole library. */
export const env = {
  /** The hub that ids like 'user/model' are looked up in. */
  remoteHost: 'https://huggingface.co/',
};

/** How the platform reads strings that name a place rather than a hub id. */
export interface PlaceReader {
  /** The base for relative URLs, if there is one. */
  baseUrl(): string | undefined;
  /** The folder that the string names, if folders exist here and it names one. */
  findFolder(text: string): Promise<string | undefined>;
}

const kHubId = /^[A-Za-z0-9][\w.-]*(\/[\w.-]+)?$/;
const kLooksLikePlace = /^(\.{0,2}\/|\.{1,2}$|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)/;

export async function resolveSource(source: Source, options: SourceOptions, places: PlaceReader): Promise<SourceSpec> {
  if (source instanceof URL) return fromUrl(source, source.href);
  if (typeof source === 'string') return fromString(source, options, places);
  if (typeof source === 'object' && source !== null) return fromFiles(source);
  throw new PeruseError('invalid_argument', `A source is a string, a URL or files, not ${String(source)}.`);
}

async function fromString(text: string, options: SourceOptions, places: PlaceReader): Promise<SourceSpec> {
  if (text.trim() === '') throw new PeruseError('invalid_argument', 'The source is an empty string.');
  if (/^https?:\/\//i.test(text)) return fromUrl(parseUrl(text, undefined), text);
  const path = await places.findFolder(text);
  if (path !== undefined) return { kind: 'folder', name: text, path };
  if (kLooksLikePlace.test(text)) {
    const base = places.baseUrl();
    if (base === undefined) throw new PeruseError('not_found', `There is no folder '${text}'.`);
    return fromUrl(parseUrl(text, base), text);
  }
  if (kHubId.test(text)) {
    const revision = encodeURIComponent(options.revision ?? 'main');
    return fromUrl(parseUrl(`${text}/resolve/${revision}/`, env.remoteHost), text);
  }
  throw new PeruseError('invalid_argument', `'${text}' is neither a URL nor a folder nor a hub id such as 'user/model'.`);
}

function parseUrl(text: string, base: string | undefined): URL {
  try {
    return new URL(text, base);
  } catch (error) {
    throw new PeruseError('invalid_argument', `'${text}' is not a URL.`, { cause: error });
  }
}

function fromUrl(url: URL, name: string): SourceSpec {
  if (url.protocol !== 'http:' && url.protocol !== 'https:' && !url.protocol.endsWith('-extension:')) {
    throw new PeruseError('invalid_argument', `Models are fetched over http or https, not from '${url.href}'.`);
  }
  const folder = new URL(url);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  folder.hash = '';
  return { kind: 'url', name, base: folder.href };
}

function fromFiles(source: Record<string, FileContent> | Map<string, FileContent> | readonly File[]): SourceSpec {
  const files = new Map<string, Uint8Array | Blob>();
  const entries: Iterable<[string, FileContent]> = Array.isArray(source)
    ? (source as readonly File[]).map((file) => [file.name, file])
    : source instanceof Map ? source : Object.entries(source);
  for (const [name, content] of entries) files.set(name, toBytes(name, content));
  if (files.size === 0) throw new PeruseError('invalid_argument', 'The source holds no files.');
  return { kind: 'bytes', name: 'the given files', files };
}

function toBytes(name: string, content: FileContent): Uint8Array | Blob {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array || content instanceof Blob) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  throw new PeruseError('invalid_argument', `The content of '${name}' must be a Uint8Array, an ArrayBuffer, a Blob or a string.`);
}
