// Settings of transformers.js: accepted, so that the first lines of its programs work with only the import changed.
import { PeruseError, show } from './errors.js';

/**
 * A store for model files, keyed by address: the part of the web's `Cache` that Peruse uses, so a `Cache` is one. `match` must return what
 * `put` received, including headers. `put` must not store a body that fails.
 */
export interface CustomCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  /** Like `keys`, required only by {@link modelCache}. */
  delete?(url: string): Promise<boolean>;
  keys?(): Promise<readonly (string | { url: string })[]>;
}

/** Settings by their names in transformers.js. Each sets Peruse's counterpart; `info.notices` names those without one. */
export interface TransformersJsEnv {
  /** The opposite of `offline`. */
  allowRemoteModels: boolean;
  /** If false, `localModelPath` is not used. In a page, true sets `localModelPath` to '/models/' unless it is set already. */
  allowLocalModels: boolean;
  /** In browsers: sets `cache`. */
  useBrowserCache: boolean;
  /** In Node: sets `cache`. */
  useFSCache: boolean;
  /** With `customCache`: sets `cache` to it. */
  useCustomCache: boolean;
  /** With `useCustomCache`: the cache to use. */
  customCache: CustomCache | null;
  /** Sets `cacheFolder`. */
  cacheDir: string | null;
  /** `onnx.wasm.numThreads` sets `threads`; everything else configures onnxruntime and does nothing. */
  readonly backends: { readonly onnx: OnnxSettings };
  /** Does nothing: a pipeline's `info` says what loading decided. */
  logLevel: unknown;
  /** Does nothing. */
  useFS: boolean;
  /** Does nothing. */
  useWasmCache: boolean;
  /** Does nothing. */
  cacheKey: string;
  /** Does nothing. */
  experimental_useCrossOriginStorage: boolean;
  /** Where a model's folder is below `remoteHost`. Must contain `{model}`, and may contain `{revision}`. */
  remotePathTemplate: string;
  /** The version of transformers.js that these names are of. */
  readonly version: string;
}

/** Settings of onnxruntime; only `wasm.numThreads` has an effect. */
export interface OnnxSettings {
  [setting: string]: unknown;
  readonly wasm: Record<string, unknown>;
  readonly webgpu: Record<string, unknown>;
  readonly webgl: Record<string, unknown>;
}

export class TransformersJsState {
  readonly values: Record<string, unknown> = {
    allowLocalModels: true,
    useBrowserCache: true,
    useFSCache: true,
    useCustomCache: false,
    customCache: null,
    cacheDir: null,
    logLevel: undefined,
    useFS: true,
    useWasmCache: true,
    cacheKey: 'transformers-cache',
    experimental_useCrossOriginStorage: false,
    remotePathTemplate: '{model}/resolve/{revision}/',
    version: '4.3.2',
  };
  backends: TransformersJsEnv['backends'] | undefined;
}

export interface OwnSettings {
  set(name: string, value: unknown): void;
  get(name: string): unknown;
  /** Adds a warning to `info.notices` of later pipelines. */
  notice(sentence: string): void;
}

/** Settings that throw if set, because ignoring them would change results or requests. Each with a remedy. */
export const kRefused: Record<string, string> = {
  HF_TOKEN: 'Use token.',
  remoteURL: 'Use remoteHost.',
  cache_dir: 'Use cacheFolder.',
  wasmPath: 'Use filesPath.',
};

const kIgnored: Record<string, string> = {
  logLevel: 'info says what loading decided.',
  useFS: 'a folder in Node is found by its path.',
  useWasmCache: 'the browser caches the engine like any file.',
  cacheKey: 'the name of the cache is fixed.',
  experimental_useCrossOriginStorage: 'a cache belongs to its site.',
};

const kBooleans = new Set(['allowLocalModels', 'useBrowserCache', 'useFSCache', 'useCustomCache', 'useFS', 'useWasmCache']);

export function setTransformersJs(state: TransformersJsState, name: string, value: unknown, own: OwnSettings): boolean {
  if (name === 'allowRemoteModels') {
    checkBoolean(name, value);
    own.notice('env.allowRemoteModels is a setting of transformers.js; env.offline was set to its opposite.');
    own.set('offline', !value);
    return true;
  }
  if (name === 'backends') {
    assignAll((getTransformersJs(state, name, own) as TransformersJsEnv['backends']).onnx, (value as { onnx?: unknown } | null)?.onnx);
    return true;
  }
  if (!Object.hasOwn(state.values, name)) return false;
  if (name === 'remotePathTemplate' && !isTemplate(value))
    throw new PeruseError('invalid_argument', `env.${name} must be a path with {model}, such as '{model}/', not ${show(value)}.`);
  if (kBooleans.has(name)) checkBoolean(name, value);
  if (Object.hasOwn(kIgnored, name)) own.notice(`env.${name} is ignored: ${kIgnored[name]}`);
  if (name === 'cacheDir') own.set('cacheFolder', value);
  const before = state.values[name];
  state.values[name] = value;
  try {
    if (['useBrowserCache', 'useFSCache', 'useCustomCache', 'customCache'].includes(name)) setCache(state.values, own);
  } catch (error) {
    state.values[name] = before;
    throw error;
  }
  if (name === 'allowLocalModels' && value === true && !inNode() && own.get('localModelPath') === undefined) {
    own.set('localModelPath', '/models/');
  }
  return true;
}

export function getTransformersJs(state: TransformersJsState, name: string, own: OwnSettings): unknown {
  if (name === 'allowRemoteModels') return !own.get('offline');
  if (name === 'backends') {
    state.backends ??= makeBackends(own);
    return state.backends;
  }
  return Object.hasOwn(state.values, name) ? state.values[name] : undefined;
}

/** Whether the path has a place for the model, and after it at most one for the revision, so that all revisions have a common prefix. */
function isTemplate(value: unknown): boolean {
  return typeof value === 'string' && /^[^{}]*\{model\}[^{}]*(\{revision\}[^{}]*)?$/.test(value);
}

function checkBoolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new PeruseError('invalid_argument', `env.${name} must be true or false, not ${show(value)}.`);
}

function setCache(values: Record<string, unknown>, own: OwnSettings): void {
  const { useCustomCache, customCache } = values;
  const usual = inNode() ? values.useFSCache : values.useBrowserCache;
  own.set('cache', useCustomCache === true && customCache !== null ? customCache : usual);
}

function inNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

function makeBackends(own: OwnSettings): TransformersJsEnv['backends'] {
  const wasm = settingsOf('env.backends.onnx.wasm', own, {}, (name, value) => {
    if (name === 'numThreads') own.set('threads', Number(value) > 0 ? Math.min(Math.ceil(Number(value)), 16) : 'auto');
    return name === 'numThreads';
  });
  const [webgpu, webgl] = ['webgpu', 'webgl'].map((name) => settingsOf(`env.backends.onnx.${name}`, own));
  return { onnx: settingsOf('env.backends.onnx', own, { wasm, webgpu: webgpu!, webgl: webgl! }) as unknown as OnnxSettings };
}

/** An object that accepts every setting and adds a notice for each that `use` rejects. Assigning an object assigns its members. */
function settingsOf(
  path: string,
  own: OwnSettings,
  parts: Record<string, Record<string, unknown>> = {},
  use: (name: string, value: unknown) => boolean = () => false,
): Record<string, unknown> {
  return new Proxy<Record<string, unknown>>(
    { ...parts },
    {
      set(settings, name, value) {
        if (typeof name === 'string' && Object.hasOwn(parts, name)) {
          assignAll(parts[name]!, value);
          return true;
        }
        if (!use(String(name), value))
          own.notice(`${path}.${String(name)} is ignored: it configures onnxruntime, which Peruse does not use.`);
        return Reflect.set(settings, name, value);
      },
    },
  );
}

function assignAll(settings: Record<string, unknown>, value: unknown): void {
  if (typeof value === 'object' && value !== null) Object.assign(settings, value);
}
