// Settings for the whole library.
import type { CustomCache } from './custom_cache.js';
import {
  getTransformersJs,
  kRefused,
  type OwnSettings,
  setTransformersJs,
  type TransformersJsEnv,
  TransformersJsState,
} from './env_transformers_js.js';
import { PeruseError, show } from './errors.js';

export type { CustomCache } from './custom_cache.js';

/** The settings that are stored: {@link Env} without the names of transformers.js. */
export type Settings = Omit<Env, keyof TransformersJsEnv>;

/** Settings for the whole library; a pipeline takes what holds when it is called. */
export interface Env extends TransformersJsEnv {
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
  /**
   * In a page: URL of a folder that holds the package's files (workers and builds), as `npx peruse copy-files <folder>` writes it. For bundlers
   * that leave these files behind (esbuild, Rollup, Angular). Default: where the bundler has put them.
   */
  filesPath: string | URL | undefined;
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

const kDefaults: Settings = {
  remoteHost: 'https://huggingface.co/',
  localModelPath: undefined,
  token: undefined,
  offline: false,
  cache: true,
  cacheFolder: undefined,
  filesPath: undefined,
  wasmPath: undefined,
  threads: 'auto',
  debug: undefined,
};

type Check = [expected: string, isRight: (value: unknown) => boolean];

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNothing = (value: unknown) => value === undefined || isText(value);
const has = (value: unknown, method: string) => typeof (value as Record<string, unknown>)[method] === 'function';

const kChecks: Record<keyof Settings, Check> = {
  remoteHost: ['an absolute URL', (value) => isText(value) && new URL(value as string).host !== ''],
  localModelPath: ['a path or a URL', isTextOrNothing],
  token: ['a string', isTextOrNothing],
  offline: ['true or false', (value) => typeof value === 'boolean'],
  cache: [
    'true, false, or an object with the methods match(url) and put(url, response)',
    (value) => typeof value === 'boolean' || (typeof value === 'object' && value !== null && has(value, 'match') && has(value, 'put')),
  ],
  cacheFolder: ['the path of a folder', isTextOrNothing],
  filesPath: ['a URL', (value) => isTextOrNothing(value) || value instanceof URL],
  wasmPath: ['a URL', (value) => isTextOrNothing(value) || value instanceof URL],
  threads: ["'auto' or a whole number from 1 to 16", (value) => value === 'auto' || isCount(value)],
  debug: ['a function', (value) => value === undefined || typeof value === 'function'],
};

/** A number of threads, which may come as text. */
function isCount(value: unknown): boolean {
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 16;
}

/** Warnings about how `env` was set. */
export function envNotices(): string[] {
  return [...shared.notices];
}

/** Also false for a value whose getters throw. */
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
  const meant = name === 'threads' && given !== 'auto' ? Number(given) : given;
  return Reflect.set(settings, name, meant);
}

/** Access to the settings for transformers.js's names. */
function ownSettings(settings: Settings): OwnSettings {
  return {
    set: (name, value) => void set(settings, name, value),
    get: (name) => Reflect.get(settings, name),
    notice: (sentence) => void shared.notices.add(sentence),
  };
}

interface Shared {
  env: Env;
  transformersJs: TransformersJsState;
  notices: Set<string>;
}

/** The package is several bundles, each with a copy of this module; all share one object per thread. */
const kShared = Symbol.for('peruse.env');

function makeShared(): Shared {
  const get = (settings: Settings, name: string | symbol) => {
    if (Object.hasOwn(settings, name) || typeof name === 'symbol') return Reflect.get(settings, name);
    return getTransformersJs(shared.transformersJs, name, ownSettings(settings));
  };
  const proxy = new Proxy({ ...kDefaults }, { set, get });
  return { env: proxy as Env, transformersJs: new TransformersJsState(), notices: new Set() };
}

const scope = globalThis as { [kShared]?: Shared };
scope[kShared] ??= makeShared();
const shared = scope[kShared];

/** `env.threads` if it is a number. */
export function mostThreads(): number | undefined {
  return env.threads === 'auto' ? undefined : env.threads;
}

/** Settings for the whole library: set them before you load. */
export const env: Env = shared.env;
