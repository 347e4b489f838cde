// The options of pipeline() and teach(): those that exist, and of what type.
import { capital, checkSignal, PeruseError, show } from './errors.js';

export type OptionKind = 'boolean' | 'string' | 'number' | 'function' | 'signal' | 'other';

/** How others call things, and what there is instead. */
const kElsewhere: Record<string, string> = {
  quantized: "dtype: 'q8'",
  cache_dir: 'env.cacheFolder',
  local_files: 'local_files_only',
  progressCallback: 'progress_callback',
  onProgress: 'progress_callback',
  num_threads: 'threads',
  auth_token: 'token',
};

/** A copy of the options, each of which must exist and be of its type; what is checked by its user is 'other'. `whose`: for messages. */
export function checkLoadOptions<O extends object>(given: O, kinds: Record<keyof O, OptionKind>, whose = 'a load'): O {
  if (typeof given !== 'object' || given === null) {
    throw new PeruseError('invalid_argument', `The options of ${whose} must be an object, not ${show(given)}.`);
  }
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, name)) throw unknown(name, Object.keys(kinds), whose);
    const kind = kinds[name as keyof O];
    if (value === undefined || (value === null && (kind === 'function' || kind === 'other'))) continue; // transformers.js' defaults are null.
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
