import { capital, checkSignal, PeruseError, show } from './errors.js';

export type OptionKind = 'boolean' | 'string' | 'number' | 'function' | 'signal' | 'other';

/** Option names of other libraries, and Peruse's counterpart of each. */
const kElsewhere: Record<string, string> = {
  quantized: "dtype: 'q8'",
  cache_dir: 'env.cacheFolder',
  local_files: 'offline',
  progressCallback: 'progress_callback',
  onProgress: 'progress_callback',
  num_threads: 'threads',
  auth_token: 'token',
};

/** Other names of options: transformers.js's, and those that options of the engine's files had before. */
const kOtherNames = { local_files_only: 'offline', wasmPath: 'wasm_path', wasmModule: 'wasm_module' } as const;

/** The names of options, each once. */
export type OptionName<O> = Exclude<keyof O, keyof typeof kOtherNames>;

/**
 * Returns a copy of the options after checking names and types; options of the kind 'other' are checked later. `whose` is for messages.
 * `others` names options that only some tasks have.
 */
export function checkLoadOptions<O extends object>(
  given: O,
  kinds: Record<OptionName<O>, OptionKind>,
  whose = 'a load',
  others: Readonly<Record<string, readonly string[]>> = {},
): O {
  if (typeof given !== 'object' || given === null) {
    throw new PeruseError('invalid_argument', `The options of ${whose} must be an object, not ${show(given)}.`);
  }
  const checked: Record<string, unknown> = {};
  for (const [said, value] of Object.entries(given)) {
    const name = Object.hasOwn(kOtherNames, said) ? kOtherNames[said as keyof typeof kOtherNames] : said;
    if (!Object.hasOwn(kinds, name)) throw unknown(said, Object.keys(kinds), whose, others[said]);
    const kind = kinds[name as OptionName<O>];
    if (value === undefined || (value === null && (kind === 'function' || kind === 'other'))) continue; // null is transformers.js's default
    if (kind === 'signal') checkSignal(value);
    else if (kind !== 'other' && typeof value !== kind) {
      throw new PeruseError(
        'invalid_argument',
        `${name} must be ${kind === 'boolean' ? 'true or false' : `a ${kind}`}, not ${show(value)}.`,
      );
    }
    checked[name] = value;
  }
  return checked as O;
}

function unknown(name: string, known: string[], whose: string, tasks: readonly string[] | undefined): PeruseError {
  const hint = Object.hasOwn(kElsewhere, name) ? `; what you mean may be ${kElsewhere[name]}` : '';
  const owner = tasks === undefined ? hint : `; it is an option of ${tasks.join(', ')}`;
  return new PeruseError('invalid_argument', `${capital(whose)} has no option '${name}'${owner}. It has ${known.join(', ')}.`);
}
