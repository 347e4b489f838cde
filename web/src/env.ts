// Settings for the whole library.
import { PeruseError, show } from './errors.js';

/**
 * Where model files are kept: the part of the web's `Cache` that Peruse uses, so a `Cache` is one. Addresses are the keys. What
 * `put` is given must come out of `match` whole, headers included; a body that fails must not be kept.
 */
export interface CustomCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  /** Needed by {@link modelCache} only, like `keys`. */
  delete?(url: string): Promise<boolean>;
  keys?(): Promise<readonly (string | { url: string })[]>;
}

/** Settings for the whole library; a pipeline takes what holds when it is called. */
export interface Env {
  /** The hub that ids like 'user/model' are looked up in. */
  remoteHost: string;
  /** A folder (in Node a path, in a page a URL) in which a hub id is looked for first, as `<folder>/user/model/`. */
  localModelPath: string | undefined;
  /** For models that their owners share with some people only. Sent to `remoteHost` and to nobody else. */
  token: string | undefined;
  /** Ask no server for anything but, in a page, its own for `localModelPath`: what is not stored fails with 'offline'. */
  offline: boolean;
  /** Keep fetched model files (true), or not (false), or in a cache of your own. */
  cache: boolean | CustomCache;
  /** In Node: the folder for them. Default: `peruse/models` in $XDG_CACHE_HOME or ~/.cache. */
  cacheFolder: string | undefined;
  /** URL of a folder that holds the engine's builds, instead of the package's own. */
  wasmPath: string | URL | undefined;
  /** At most so many threads, 1 to 16; fewer where the machine has fewer processors, or the page no shared memory. */
  threads: number | 'auto';
  /**
   * Told in sentences what loading decided: the build and why, the head and its tensors, tensors of the checkpoint that nothing
   * needs. For example `console.debug`. Default: nobody is told; `info` of a pipeline has the same as data.
   */
  debug: ((message: string) => void) | undefined;
}

const kDefaults: Env = {
  remoteHost: 'https://huggingface.co/',
  localModelPath: undefined,
  token: undefined,
  offline: false,
  cache: true,
  cacheFolder: undefined,
  wasmPath: undefined,
  threads: 'auto',
  debug: undefined,
};

type Check = [expected: string, isRight: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNothing = (value: unknown) => value === undefined || isText(value);
const has = (value: unknown, method: string) => typeof (value as Record<string, unknown>)[method] === 'function';

const kChecks: Record<keyof Env, Check> = {
  remoteHost: ['a URL', isText],
  localModelPath: ['a path or a URL', isTextOrNothing],
  token: ['a string', isTextOrNothing],
  offline: ['true or false', (value) => typeof value === 'boolean'],
  cache: [
    'true, false, or an object with the methods match(url) and put(url, response)',
    (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null && has(value, 'match') && has(value, 'put')),
  ],
  cacheFolder: ['the path of a folder', isTextOrNothing],
  wasmPath: ['a URL', (value) => isTextOrNothing(value) || value instanceof URL],
  threads: ["'auto' or a whole number from 1 to 16", (value) => value === 'auto' || isCount(value)],
  debug: ['a function', (value) => value === undefined || typeof value === 'function'],
};

/** A number of threads, which may come as text. */
function isCount(value: unknown): boolean {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 16;
}

/** How transformers.js calls things, and what there is instead. */
const kElsewhere: Record<string, string> = {
  cacheDir: 'cacheFolder',
  cache_dir: 'cacheFolder',
  useBrowserCache: 'cache',
  useFSCache: 'cache',
  useCustomCache: 'cache',
  customCache: 'cache',
  allowLocalModels: 'localModelPath',
  backends: 'threads and wasmPath',
};

const kRenamed = "env.allowRemoteModels is transformers.js' name; Peruse calls it env.offline, and has set that.";

/** What a caller may want to know of how `env` was set. */
export function envNotices(): string[] {
  return [...shared.notices];
}

/** False also for a value whose getters throw. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function set(settings: Env, name: string | symbol, value: unknown): boolean {
  if (name === 'allowRemoteModels' && typeof value === 'boolean') {
    shared.notices.add(kRenamed);
    settings.offline = !value;
    return true;
  }
  if (typeof name === 'symbol' || !Object.hasOwn(kChecks, name)) {
    const hint = Object.hasOwn(kElsewhere, String(name)) ? `; what you mean may be ${kElsewhere[String(name)]}` : '';
    throw new PeruseError('invalid_argument', `env has no ${show(String(name))}${hint}. It has ${Object.keys(kChecks).join(', ')}.`);
  }
  const [expected, isRight] = kChecks[name as keyof Env];
  const given = value === null && kDefaults[name as keyof Env] === undefined ? undefined : value;
  if (!holds(() => isRight(given))) throw new PeruseError('invalid_argument', `env.${name} must be ${expected}, not ${show(value)}.`);
  const meant = name === 'threads' && given !== 'auto' ? Number(given) : given;
  return Reflect.set(settings, name, meant);
}

interface Shared {
  env: Env;
  notices: Set<string>;
}

/** The package is several bundles, each with a copy of this module: the settings are one object in a thread. */
const kShared = Symbol.for('peruse.env');

function makeShared(): Shared {
  const get = (settings: Env, name: string | symbol) => (name === 'allowRemoteModels' ? !settings.offline : Reflect.get(settings, name));
  return { env: new Proxy({ ...kDefaults }, { set, get }), notices: new Set() };
}

const scope = globalThis as { [kShared]?: Shared };
scope[kShared] ??= makeShared();
const shared = scope[kShared];

/** `env.threads`, where it says a number. */
export function mostThreads(): number | undefined {
  return env.threads === 'auto' ? undefined : env.threads;
}

/** Settings for the whole library: set them before you load. */
export const env: Env = shared.env;
