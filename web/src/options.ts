// An option is one entry of a schema: its kind, its flag of the command line, and, as the entry's comment, its documentation. From the entry come
// the option's type, its check and message, its flag, and its row in the guides (tools/option_tables.mjs).
import { capital, checkSignal, PeruseError, show } from './errors.js';

/** What a value is. A list means one of these words. The code that uses an option checks values of the kind 'other'. */
export type OptionKind = 'boolean' | 'string' | 'number' | 'function' | 'signal' | 'other' | readonly string[];

/** A flag of the command line. Scripts for pages omit it (tools/bundle.mjs), so it is written as one literal, without braces inside. */
export interface OptionFlag {
  help: string;
  /** Default: the option's name, with hyphens. */
  name?: string;
  short?: string;
  /** The name of the value in the help. Default: by the kind. */
  value?: string;
  /** Words of the option that the command does not take. */
  except?: readonly string[];
}

interface OptionSpec<K extends OptionKind> {
  kind: K;
  /** The default, for the table in the guide; absent if the comment explains it. */
  default?: unknown;
  flag?: OptionFlag;
}

/** An option whose values have the type T. */
export interface Option<T> extends OptionSpec<OptionKind> {
  /** Exists as a type only. */
  readonly given?: T;
}

export type Schema = Readonly<Record<string, Option<unknown>>>;

type ValueOf<K> = K extends readonly (infer Word)[]
  ? Word
  : K extends 'boolean'
    ? boolean
    : K extends 'string'
      ? string
      : K extends 'number'
        ? number
        : AbortSignal;

/** Declares an option, whose type follows from its kind unless it is given: `option<URL>({ kind: 'other' })`. */
export function option<const K extends Exclude<OptionKind, 'function' | 'other'>>(spec: OptionSpec<K>): Option<ValueOf<K>>;
export function option<T>(spec: OptionSpec<OptionKind>): Option<T>;
export function option(spec: OptionSpec<OptionKind>): Option<unknown> {
  return spec;
}

/** The object of options that a schema describes. Properties keep the comments of the schema. */
export type Given<S> = { [N in keyof S]?: S[N] extends Option<infer T> ? T : never };

/** The part of a schema with these names. */
export function pick<S extends object, const N extends keyof S>(schema: S, ...names: N[]): Pick<S, N> {
  return Object.fromEntries(names.map((name) => [name, schema[name]])) as Pick<S, N>;
}

/** Options for finding a model's files. */
export const kSourceOptions = {
  /** Branch, tag or commit of a hub id. Default 'main'. */
  revision: option({ kind: 'string', default: 'main', flag: { value: 'name', help: 'branch, tag or commit of a hub id (main)' } }),
  /** An access token for the hub. Default: `env.token`. */
  token: option({ kind: 'string', flag: { value: 'token', help: 'an access token of the hub, for gated models ($HF_TOKEN)' } }),
  /** Send no request, even if `env.offline` is false. */
  offline: option({ kind: 'boolean', default: false, flag: { help: 'do not send requests: use cached files only' } }),
  /** transformers.js's name of `offline`. */
  local_files_only: option({ kind: 'boolean' }),
  /** In Node: the folder for downloaded files, for this load. Default: `env.cacheFolder`. */
  cache_dir: option({ kind: 'string' }),
};

const kCallOptions = {
  /** Cancels the call: it throws immediately, and the engine stops before its next batch. */
  signal: option({ kind: 'signal' }),
  /** 'high' lets the call pass all calls without a priority that use the same engine: it waits for the batch that is running only. */
  priority: option({ kind: ['high'] }),
  /** Factors for the results of attention heads, `[layer][head]`: 0 disables a head. ConvBERT's convolution heads are not affected. */
  head_mask: option<readonly (readonly number[])[]>({ kind: 'other' }),
  /** transformers.js's: ignored with a notice in `info.notices`, because texts are not padded. */
  padding: option<unknown>({ kind: 'other' }),
  /** transformers': ignored with a notice, because batches have the size that fits. */
  batch_size: option({ kind: 'number' }),
};

/** Options of every call. */
export interface CallOptions extends Given<typeof kCallOptions> {}

/** Option names of other libraries, and Peruse's counterpart of each. */
const kElsewhere: Record<string, string> = {
  local_files: 'offline',
  progressCallback: 'progress_callback',
  onProgress: 'progress_callback',
  num_threads: 'threads',
  auth_token: 'token',
  wasm_path: 'env.filesPath',
};

/** transformers.js's names of options. */
const kOtherNames = { local_files_only: 'offline' } as const;

/** Returns a copy of the options after checking names and kinds. `whose` is for messages. `others` names options that only some tasks have. */
export function checkOptions<O extends object>(
  given: O,
  schema: Readonly<Record<string, { kind: OptionKind }>>,
  whose = 'a load',
  others: Readonly<Record<string, readonly string[]>> = {},
): O {
  if (typeof given !== 'object' || given === null) {
    throw new PeruseError('invalid_argument', `The options of ${whose} must be an object, not ${show(given)}.`);
  }
  const checked: Record<string, unknown> = {};
  for (const [said, value] of Object.entries(given)) {
    const name = Object.hasOwn(kOtherNames, said) ? kOtherNames[said as keyof typeof kOtherNames] : said;
    if (!Object.hasOwn(schema, name)) throw unknown(said, Object.keys(schema), whose, others[said]);
    const { kind } = schema[name]!;
    if (value === undefined || (value === null && (kind === 'function' || kind === 'other' || typeof kind === 'object'))) continue; // null is transformers.js's default
    checkKind(name, kind, value);
    checked[name] = value;
  }
  return checked as O;
}

function checkKind(name: string, kind: OptionKind, value: unknown): void {
  if (kind === 'other') return;
  if (kind === 'signal') {
    checkSignal(value);
    return;
  }
  if (typeof kind === 'object' ? kind.includes(value as string) : typeof value === kind) return;
  const expected = typeof kind === 'object' ? wordsIn(kind) : kind === 'boolean' ? 'true or false' : `a ${kind}`;
  throw new PeruseError('invalid_argument', `${name} must be ${expected}, not ${show(value)}.`);
}

/** The words as a message lists them: 'a', 'b' or 'c'. */
function wordsIn(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean).join(' or ');
}

function unknown(name: string, schema: string[], whose: string, tasks: readonly string[] | undefined): PeruseError {
  const known = schema.filter((one) => !Object.hasOwn(kOtherNames, one));
  const hint = Object.hasOwn(kElsewhere, name) ? `; what you mean may be ${kElsewhere[name]}` : '';
  const owner = tasks === undefined ? hint : `; it is an option of ${tasks.join(', ')}`;
  return new PeruseError('invalid_argument', `${capital(whose)} has no option '${name}'${owner}. It has ${known.join(', ')}.`);
}
