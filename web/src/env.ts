import {
  type CustomCache,
  getTransformersJs,
  kRefused,
  type OwnSettings,
  setTransformersJs,
  type TransformersJsEnv,
  TransformersJsState,
} from './env_transformers_js.js';
import { PeruseError, show } from './errors.js';
import { kShared } from './own_fetch.js';

export type { CustomCache } from './env_transformers_js.js';

/** The settings that are stored: {@link Env} without transformers.js's names, which only set others. */
export type Settings = Omit<Env, keyof TransformersJsEnv>;

/** Settings for the whole library. A pipeline uses the values at the time of the call of `pipeline()`. */
export interface Env extends TransformersJsEnv {
  /** The hub in which ids like 'user/model' are looked up. */
  remoteHost: string;
  /** A folder (a URL in a page) in which a hub id is looked up first, as `<folder>/user/model/`. */
  localModelPath: string | undefined;
  /** A hub token for private or gated models. It is sent to `remoteHost` only. */
  token: string | undefined;
  /** Send no request to a server, except a page's to its own for `localModelPath`. A file that is not stored throws 'offline'. */
  offline: boolean;
  /**
   * Store downloaded model files (true), do not store them (false), or store them in this cache. 'opfs' stores them in the private file system
   * of a page's origin instead of Cache Storage.
   */
  cache: boolean | 'opfs' | CustomCache;
  /**
   * Sends all requests for model files, in the thread that loads, for example through a proxy. Default: the platform's `fetch`; undefined sets the
   * default.
   */
  fetch: typeof globalThis.fetch | undefined;
  /** In Node: the folder for downloaded files. Default: `peruse/models` in $XDG_CACHE_HOME or ~/.cache. */
  cacheFolder: string | undefined;
  /**
   * URL of a folder with the engine's files, its workers and builds, written by `npx peruse copy-files <folder>`. Required for bundlers that
   * omit these files (esbuild, Rollup, Angular). Default: the location that the bundler chose, or the package's own files.
   */
  filesPath: string | URL | undefined;
  /** The maximum number of threads, 1 to 16. Fewer run if the machine has fewer processors, or if the page lacks shared memory. */
  threads: number | 'auto';
}

const kDefaults: Settings = {
  remoteHost: 'https://huggingface.co/',
  localModelPath: undefined,
  token: undefined,
  offline: false,
  cache: true,
  fetch: undefined,
  cacheFolder: undefined,
  filesPath: undefined,
  threads: 'auto',
};

type Check = [expected: string, isRight: (value: unknown) => boolean];

const isText = (value: unknown): value is string => typeof value === 'string';
const isTextOrNothing = (value: unknown): value is string | undefined => value === undefined || isText(value);
const has = (value: unknown, method: string) => typeof (value as Record<string, unknown>)[method] === 'function';

const kChecks: Record<keyof Settings, Check> = {
  remoteHost: ['an absolute URL', (value) => isText(value) && new URL(value as string).host !== ''],
  localModelPath: ['a path or a URL', isTextOrNothing],
  token: ['a string', isTextOrNothing],
  offline: ['true or false', (value) => typeof value === 'boolean'],
  cache: [
    "true, false, 'opfs', or an object with the methods match(url) and put(url, response)",
    (value) =>
      typeof value === 'boolean' ||
      value === 'opfs' ||
      (typeof value === 'object' && value !== null && has(value, 'match') && has(value, 'put')),
  ],
  fetch: ['a function with the signature of fetch()', (value) => value === undefined || typeof value === 'function'],
  cacheFolder: ['the path of a folder', (value) => isTextOrNothing(value) && value?.trim() !== ''],
  filesPath: ['a URL', (value) => isTextOrNothing(value) || value instanceof URL],
  threads: ["'auto' or a whole number from 1 to 16", (value) => value === 'auto' || isCount(value)],
};

function isCount(value: unknown): boolean {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 16;
}

/** Warnings about how `env` was set. */
export function envNotices(): string[] {
  return [...shared.notices];
}

function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

function set(settings: Settings, name: string | symbol, value: unknown): boolean {
  if (typeof name === 'string' && setTransformersJs(shared.transformersJs, name, value, ownSettings(settings))) return true;
  if (typeof name === 'symbol' || !Object.hasOwn(kChecks, name)) {
    const hint = Object.hasOwn(kRefused, String(name)) ? ` ${kRefused[String(name)]}` : '';
    throw new PeruseError('invalid_argument', `env has no ${show(String(name))}.${hint} It has ${Object.keys(kChecks).join(', ')}.`);
  }
  const [expected, isRight] = kChecks[name as keyof Settings];
  const given = value === null && kDefaults[name as keyof Settings] === undefined ? undefined : value;
  if (!holds(() => isRight(given))) throw new PeruseError('invalid_argument', `env.${name} must be ${expected}, not ${show(value)}.`);
  const meant = name === 'threads' && given !== 'auto' ? Number(given) : given === platformFetch ? undefined : given;
  return Reflect.set(settings, name, meant);
}

function ownSettings(settings: Settings): OwnSettings {
  return {
    set: (name, value) => void set(settings, name, value),
    get: (name) => Reflect.get(settings, name),
    notice: (sentence) => void shared.notices.add(sentence),
  };
}

/** What `env.fetch` is by default, so that a program can call it in a function of its own. */
const platformFetch: typeof fetch = (...given) => fetch(...given);

interface Shared {
  env: Env;
  /** `env.fetch` if a program has set it. */
  ownFetch(): typeof fetch | undefined;
  transformersJs: TransformersJsState;
  notices: Set<string>;
}

function makeShared(): Shared {
  const settings = { ...kDefaults };
  const get = (_: Settings, name: string | symbol) => {
    if (name === 'fetch') return settings.fetch ?? platformFetch;
    if (Object.hasOwn(settings, name) || typeof name === 'symbol') return Reflect.get(settings, name);
    return getTransformersJs(shared.transformersJs, name, ownSettings(settings));
  };
  const has = (_: Settings, name: string | symbol) => get(settings, name) !== undefined || name in settings;
  const proxy = new Proxy(settings, { set, get, has });
  return { env: proxy as Env, ownFetch: () => settings.fetch, transformersJs: new TransformersJsState(), notices: new Set() };
}

const scope = globalThis as { [kShared]?: Shared };
scope[kShared] ??= makeShared();
const shared = scope[kShared];

export function mostThreads(): number | undefined {
  return env.threads === 'auto' ? undefined : env.threads;
}

/** Settings for the whole library: set them before you load. */
export const env: Env = shared.env;
