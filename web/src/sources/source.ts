import { type CustomCache, env } from '../env.js';
import { PeruseError, show } from '../errors.js';
import type { Given, kSourceOptions } from '../options.js';
import type { Port } from '../web_types.js';
import { type FilesSource, type FilesSpec, readFiles } from './source_files.js';

/**
 * A model's location:
 * - a URL of a folder (`https://.../`, `./models/x/`, a `URL`), relative to the page;
 * - a hub id (`user/model`);
 * - in Node, the path of a folder;
 * - files: an object or a Map from name to content, a list of `File`s (for example of `<input type="file" webkitdirectory>`), a directory
 *   handle, or the `dataTransfer` of a drop.
 */
export type Source = string | URL | FilesSource;

/** A source in plain form. `name` is its name in messages and progress reports. */
export type SourceSpec =
  | UrlSpec
  | { kind: 'folder'; name: string; path: string }
  | FilesSpec
  /** The first folder if it has a config.json, otherwise the second. */
  | { kind: 'either'; name: string; first: SourceSpec; second: SourceSpec }
  /** Read by the thread at the port's other end (folder_port.ts). */
  | { kind: 'port'; name: string; port: Port };

export interface UrlSpec {
  kind: 'url';
  name: string;
  base: string;
  /** A folder on the hub, whose headers have a known meaning. */
  hub?: boolean;
  token?: string;
  offline?: boolean;
  /** Added to a 'not found' message if the caller may have meant something else. */
  hint?: string;
  /** Sends the requests of a worker (fetch_port.ts). */
  fetch?: Port;
  /** How to cache the files; undefined means that they are not cached. */
  keep?: KeepPolicy;
}

export interface KeepPolicy {
  custom?: CustomCache;
  /** Store files in the origin's private file system. */
  opfs?: true;
  folder?: string;
  /** The revision determines the content, so cached files are used without a request. */
  immutable: boolean;
}

/** The store that a policy names. */
export type StoreChoice = Pick<KeepPolicy, 'custom' | 'opfs' | 'folder'>;

export interface ModelFile {
  found: true;
  where: string;
  /** Length in bytes; 0 if unknown. */
  size: number;
  /** A value that changes with the content; undefined if unknown. */
  version?: string | undefined;
  /** Whether opening the file again transfers it again. */
  transfers?: boolean;
  /** Yields the bytes once, in order. A chunk is valid until the next is requested. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Closes a file without reading all of its bytes. */
  close(): Promise<void>;
  /** Reads the file to store a quantised form of it. Replaces a call of chunks(). Absent if the file is not cached. */
  inForm?(form: string): FileInForm;
}

/** A file that is stored in another form than it has on its server. */
export interface FileInForm {
  /** Its bytes, which are not stored. */
  chunks(): AsyncIterable<Uint8Array>;
  save(bytes: number): FormSink;
}

export interface FormSink {
  add(chunk: Uint8Array): Promise<void>;
  finish(whole: boolean): Promise<void>;
}

export interface MissingFile {
  found: false;
  where: string;
  why: string;
  /** No request was sent, because the library is offline. */
  offline?: boolean;
}

export interface FileFacts {
  found: true;
  /** Its length in bytes; 0 if unknown. */
  size: number;
  /** A value that changes with the content; undefined if unknown. */
  version?: string | undefined;
  /** Whether loading it transfers nothing. */
  cached: boolean;
}

export interface ModelFolder {
  /** `firstBytes` limits how much will be read; the file is then not cached. Throws if it is unknown whether the file exists. */
  open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile>;
  /** Returns facts about a file without reading it. Folders without this function are local. */
  look?(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile>;
  /** Opens what FileInForm stored; undefined if the file on the server has changed since. */
  openInForm?(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined>;
}

/** How to look up a source. */
export interface SourceOptions extends Given<typeof kSourceOptions> {}

/** Interprets strings that are not hub ids. */
export interface PathResolver {
  baseUrl(): string | undefined;
  findFolder(text: string): Promise<string | undefined>;
}

export const kHubId = /^[A-Za-z0-9][\w.-]*(\/[\w.-]+)?$/;
const kDots = /^\.*$/; // a name of dots would lead to another folder as part of a path
/** Names that are common for folders and improbable for users of the hub. */
const kFolderNames = /^(models?|assets?|static|public|weights|checkpoints?|files)\//;
const kPathOrUrl = /^(\.{0,2}\/|\.{1,2}$|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)/;

const kScheme = /^[a-z][a-z0-9+.-]+:\/\//;

export async function resolveSource(source: Source, options: SourceOptions, paths: PathResolver): Promise<SourceSpec> {
  if (source instanceof URL) return fromUrlObject(source, options, paths);
  if (typeof source === 'string') return fromString(source, options, paths);
  if (typeof source === 'object' && source !== null) return readFiles(source);
  throw new PeruseError('invalid_argument', `A source must be a string, a URL or files, not ${show(source)}.`);
}

/** In Node a file: URL is a folder on disk. */
async function fromUrlObject(url: URL, options: SourceOptions, paths: PathResolver): Promise<SourceSpec> {
  if (url.protocol !== 'file:' || paths.baseUrl() !== undefined) return fromUrl(url, url.href, options);
  const path = await paths.findFolder(url.href);
  if (path === undefined) throw new PeruseError('not_found', noFolder(url.href));
  return { kind: 'folder', name: url.href, path };
}

function noFolder(text: string): string {
  const onServer = text.startsWith('/') ? ' If a server renders your page, load the model only in the browser (onMount, useEffect).' : '';
  return `There is no folder '${text}'. A path starts at the program's current folder; a hub id has the form user/model.${onServer}`;
}

async function fromString(text: string, options: SourceOptions, paths: PathResolver): Promise<SourceSpec> {
  if (text.trim() === '') throw new PeruseError('invalid_argument', 'The source is an empty string.');
  if (/^https?:\/\//i.test(text)) return fromUrl(parseUrl(text, undefined), text, options);
  const path = await paths.findFolder(text);
  if (path !== undefined) return { kind: 'folder', name: text, path };
  if (kPathOrUrl.test(text)) {
    const base = paths.baseUrl();
    if (base === undefined && kScheme.test(text)) return fromUrl(parseUrl(text, undefined), text, options);
    if (base === undefined) throw new PeruseError('not_found', noFolder(withoutCredentials(text)));
    return fromUrl(parseUrl(text, base), text, options);
  }
  if (!kHubId.test(text) || text.split('/').some((part) => kDots.test(part))) {
    throw new PeruseError(
      'invalid_argument',
      `'${withoutCredentials(text)}' is neither a URL nor a folder nor a hub id such as 'user/model'.`,
    );
  }
  const remote = fromUrl(hubFolder(text, options.revision ?? 'main'), text, options);
  if (paths.baseUrl() !== undefined && kFolderNames.test(text)) {
    remote.hint = `'${text}' was looked up on the hub; a folder next to the page is written './${text}'`;
  }
  const folder = env.allowLocalModels ? env.localModelPath : undefined;
  const local = folder === undefined ? undefined : await inLocalFolder(text, folder, options, paths);
  if (local?.kind === 'folder') return local;
  return local === undefined ? remote : { kind: 'either', name: text, first: local, second: remote };
}

/** The URL of a hub id's files; without a revision, the common prefix of all revisions. */
export function hubFolder(id: string, revision: string | undefined): URL {
  if (revision !== undefined && (typeof revision !== 'string' || revision.split('/').some((part) => kDots.test(part)))) {
    throw new PeruseError('invalid_argument', `A revision is the name of a branch, a tag or a commit, not '${String(revision)}'.`);
  }
  const template = env.remotePathTemplate.replace(/^\/+/, '').replace('{model}', id);
  const path = revision === undefined ? template.replace(/\{revision.*/, '') : template.replace('{revision}', encodeURIComponent(revision));
  return parseUrl(path, hubAddress().href);
}

function hubAddress(): URL {
  const { remoteHost } = env;
  return parseUrl(remoteHost.endsWith('/') ? remoteHost : `${remoteHost}/`, undefined);
}

async function inLocalFolder(id: string, folder: string, options: SourceOptions, paths: PathResolver): Promise<SourceSpec | undefined> {
  const text = `${folder.replace(/\/$/, '')}/${id}/`;
  const path = await paths.findFolder(text);
  if (path !== undefined) return { kind: 'folder', name: id, path };
  const base = paths.baseUrl();
  if (base === undefined) return undefined;
  const spec = fromUrl(parseUrl(text, base), id, options);
  if (new URL(spec.base).origin === new URL(base).origin) delete spec.offline; // requests to the page's own server are allowed offline
  return spec;
}

function parseUrl(text: string, base: string | undefined): URL {
  try {
    return new URL(text, base);
  } catch (error) {
    throw new PeruseError('invalid_argument', `'${withoutCredentials(text)}' is not a URL.`, { cause: error });
  }
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//');
}

/** Converts the URL of a model's page on the hub (`https://huggingface.co/user/model`, `/tree/revision`) to that of its files. */
function fromPage(url: URL, options: SourceOptions): URL {
  const [, id, revision] = /^\/([\w.-]+\/[\w.-]+)(?:\/tree\/([^/]+))?\/?$/.exec(url.pathname) ?? [];
  if (id === undefined || url.origin !== hubAddress().origin || hubAddress().pathname !== '/') return url;
  return hubFolder(id, revision === undefined ? (options.revision ?? 'main') : decodeURIComponent(revision));
}

function fromUrl(given: URL, name: string, options: SourceOptions): UrlSpec {
  const url = fromPage(given, options);
  const http = url.protocol === 'http:' || url.protocol === 'https:';
  if (!http && !url.protocol.endsWith('-extension:') && !isOwnScheme(url)) {
    throw new PeruseError('invalid_argument', `Models are fetched over http or https, not from '${withoutCredentials(url.href)}'.`);
  }
  const folder = new URL(url);
  if (!folder.pathname.endsWith('/')) folder.pathname += '/';
  folder.hash = '';
  if (url.username !== '' || url.password !== '') {
    throw new PeruseError(
      'invalid_argument',
      `The address at ${url.host} contains a user name or a password, which is never sent: remove it.`,
    );
  }
  const spec: UrlSpec = { kind: 'url', name, base: folder.href };
  const token = options.token ?? env.token;
  if (token !== undefined && !/^[\x21-\x7e]*$/.test(token))
    throw new PeruseError('invalid_argument', 'The token contains characters that are not allowed in tokens.');
  if (folder.origin === hubAddress().origin) spec.hub = true;
  if (spec.hub && token !== undefined && token !== '') spec.token = token;
  if ((options.offline ?? options.local_files_only) || env.offline) spec.offline = true;
  if (http && env.cache !== false) spec.keep = { ...keepPolicy(spec), ...(options.cache_dir && { folder: options.cache_dir }) };
  return spec;
}

/** Whether the URL has the page's own scheme: apps in web views (app:, tauri:, capacitor:, file:) load models by it. */
function isOwnScheme(url: URL): boolean {
  const here = globalThis.location as Location | undefined;
  return here !== undefined && url.protocol === here.protocol && !/^(blob|data):$/.test(url.protocol);
}

/** Files of a hub revision do not change. At other addresses they may, so a request checks them. */
function keepPolicy({ hub, base }: UrlSpec): KeepPolicy {
  return { ...cacheSettings(), immutable: hub === true && new URL(base).pathname.includes('/resolve/') };
}

/** The cache that `env` names. */
export function cacheSettings(): StoreChoice {
  return {
    ...(env.cache === 'opfs' && { opfs: true as const }),
    ...(typeof env.cache === 'object' && { custom: env.cache }),
    ...(env.cacheFolder !== undefined && { folder: env.cacheFolder }),
  };
}

/** Whether a source cannot be sent to a worker. */
export function staysHere(source: SourceSpec): boolean {
  if (source.kind === 'either') return staysHere(source.first) || staysHere(source.second);
  return source.kind === 'url' && source.keep?.custom !== undefined;
}
