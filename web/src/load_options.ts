import { capital, checkSignal, PeruseError, show } from './errors.js';

export type OptionKind = 'boolean' | 'string' | 'number' | 'function' | 'signal' | 'other';

/** Option names of other libraries, and Peruse's counterpart of each. */
const kElsewhere: Record<string, string> = {
  quantized: "dtype: 'q8'",
  cache_dir: 'env.cacheFolder',
  local_files: 'local_files_only',
  progressCallback: 'progress_callback',
  onProgress: 'progress_callback',
  num_threads: 'threads',
  auth_token: 'token',
};

/** Returns a copy of the options after checking names and types; options of the kind 'other' are checked later. `whose` is for messages. */
export function checkLoadOptions<O extends object>(given: O, kinds: Record<keyof O, OptionKind>, whose = 'a load'): O {
  if (typeof given !== 'object' || given === null) {
    throw new PeruseError('invalid_argument', `The options of ${whose} must be an object, not ${show(given)}.`);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, name)) throw unknown(name, Object.keys(kinds), whose);
    const kind = kinds[name as keyof O];
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

function unknown(name: string, known: string[], whose: string): PeruseError {
  const hint = Object.hasOwn(kElsewhere, name) ? `; what you mean may be ${kElsewhere[name]}` : '';
  return new PeruseError('invalid_argument', `${capital(whose)} has no option '${name}'${hint}. It has ${known.join(', ')}.`);
}
