// Where a model's files come from: what the caller may say, and the plain form that crosses to the worker.

import { type CustomCache, env } from '../env.js';
import { PeruseError, show } from '../errors.js';
import type { Port } from '../web_types.js';
import { type FilesSource, type FilesSpec, readFiles } from './source_files.js';

/**
 * Where the model is:
 * - a URL (`https://.../`, `./models/x/`, a `URL`): a folder; relative ones are relative to the page;
 * - a hub id (`user/model`);
 * - in Node, the path of a folder;
 * - files: an object or a Map from name to content, a list of `File`s (of `<input type="file" webkitdirectory>`, say), a
 *   directory handle, or the `dataTransfer` of a drop.
 */
export type Source = string | URL | FilesSource;

/** A source in plain form. `name` is how messages and progress call it. */
export type SourceSpec =
  | UrlSpec
  | { kind: 'folder'; name: string; path: string }
  | FilesSpec
  /** The first, if it has a config.json; else the second. */
  | { kind: 'either'; name: string; first: SourceSpec; second: SourceSpec }
  /** Read by the other end of the port (folder_port.ts). */
  | { kind: 'port'; name: string; port: Port };

export interface UrlSpec {
  kind: 'url';
  name: string;
  base: string;
  /** On the hub: what its headers mean is known. */
  hub?: boolean;
  /** Sent to the hub with every request. */
  token?: string;
  /** Ask no server. */
  offline?: boolean;
  /** What to say beside 'not found', where a caller may have meant something else. */
  hint?: string;
  /** Keep the files; without it they are fetched every time. */
  keep?: KeepPolicy;
}

export interface KeepPolicy {
  /** Where, if not in the platform's own folder. */
  custom?: CustomCache;
  /** Node's folder, if not the usual one. */
  folder?: string;
  /** The revision names the content: what is stored is used without asking the server. */
  immutable: boolean;
}

/** A file that was found. */
export interface ModelFile {
  found: true;
  /** Its URL or path. */
  where: string;
  /** Its length in bytes; 0 if unknown. */
  size: number;
  /** Changes when the file does; undefined where nobody says. */
  version?: string | undefined;
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
  /** Nobody was asked, because the library is offline. */
  offline?: boolean;
}

/** A source opened. */
export interface ModelFolder {
  /** Throws if it is unknown whether the file exists. */
  open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile>;
}

/** How a source is looked up. */
export interface SourceOptions {
  /** Branch, tag or commit of a hub id. Default 'main'. */
  revision?: string;
  /** The hub's access token, instead of `env.token`. */
  token?: string;
  /** Ask no server, whatever `env.offline` says. */
  local_files_only?: boolean;
}

/** A platform's interpretation of strings that are not hub ids. */
export interface PathResolver {
  /** The base for relative URLs, if there is one. */
  baseUrl(): string | undefined;
  /** The folder that the string names, if folders exist here and it names one. */
  findFolder(text: string): Promise<string | undefined>;
}

export const kHubId = /^[A-Za-z0-9][\w.-]*(\/[\w.-]+)?$/;
const kDots = /^\.*$/; // As a segment of a path it would lead elsewhere, or nowhere.
/** Names that are usual for folders, and improbable for users of the hub. */
const kFolderNames = /^(models?|assets?|static|public|weights|checkpoints?|files)\//;
const kPathOrUrl = /^(\.{0,2}\/|\.{1,2}$|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/)/;

const kScheme = /^[a-z][a-z0-9+.-]+:\/\//;

export async function resolveSource(source: Source, options: SourceOptions, paths: PathResolver): Promise<SourceSpec> {
  if (source instanceof URL) return fromUrl(source, source.href, options);
  if (typeof source === 'string') return fromString(source, options, paths);
  if (typeof source === 'object' && source !== null) return readFiles(source);
  throw new PeruseError('invalid_argument', `A source must be a string, a URL or files, not ${show(source)}.`);
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
    remote.hint = `'${text}' was looked up on the hub; a folder beside the page is written './${text}'`;
  }
  const folder = env.allowLocalModels ? env.localModelPath : undefined;
  const local = folder === undefined ? undefined : await inLocalFolder(text, folder, options, paths);
  if (local?.kind === 'folder') return local;
  return local === undefined ? remote : { kind: 'either', name: text, first: local, second: remote };
}

/** The address of a hub id's files; without a revision, that of all its revisions. */
export function hubFolder(id: string, revision: string | undefined): URL {
  if (revision !== undefined && (typeof revision !== 'string' || revision.split('/').some((part) => kDots.test(part)))) {
    throw new PeruseError('invalid_argument', `A revision is the name of a branch, a tag or a commit, not '${String(revision)}'.`);
  }
  const path = revision === undefined ? `${id}/resolve/` : `${id}/resolve/${encodeURIComponent(revision)}/`;
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
  if (new URL(spec.base).origin === new URL(base).origin) delete spec.offline; // The page's own server is no stranger.
  return spec;
}

function parseUrl(text: string, base: string | undefined): URL {
  try {
    return new URL(text, base);
  } catch (error) {
    throw new PeruseError('invalid_argument', `'${withoutCredentials(text)}' is not a URL.`, { cause: error });
  }
}

/** Removes the user name and the password of an address, for messages. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/?#]*@/, '//');
}

/** A model's page on the hub (`https://huggingface.co/user/model`, also with `/tree/revision`) is what one copies: its files' folder. */
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
      `The address at ${url.host} holds a user name or a password, which is never sent: leave it out.`,
    );
  }
  const spec: UrlSpec = { kind: 'url', name, base: folder.href };
  const token = options.token ?? env.token;
  if (token !== undefined && !/^[\x21-\x7e]*$/.test(token))
    throw new PeruseError('invalid_argument', 'The token holds characters that no token has.');
  if (folder.origin === hubAddress().origin) spec.hub = true;
  if (spec.hub && token !== undefined && token !== '') spec.token = token;
  if (options.local_files_only || env.offline) spec.offline = true;
  if (http && env.cache !== false) spec.keep = keepPolicy(spec);
  return spec;
}

/** Apps in a web view have schemes of their own (app:, tauri:, capacitor:, file:): what a page came by, its models may come by. */
function isOwnScheme(url: URL): boolean {
  const here = globalThis.location as Location | undefined;
  return here !== undefined && url.protocol === here.protocol && !/^(blob|data):$/.test(url.protocol);
}

/** On the hub a revision stays what it was when it was fetched; elsewhere an address may hold something new tomorrow. */
function keepPolicy({ hub, base }: UrlSpec): KeepPolicy {
  const policy: KeepPolicy = { immutable: hub === true && new URL(base).pathname.includes('/resolve/') };
  if (typeof env.cache === 'object') policy.custom = env.cache;
  if (env.cacheFolder !== undefined) policy.folder = env.cacheFolder;
  return policy;
}
