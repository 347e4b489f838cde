import { asArgumentError } from '../errors.js';
import { checkOptions } from '../options.js';
import { runtime } from '../platform/current.js';
import { type Dtype, kDtypes } from '../precisions.js';
import { resolveSource, type Source } from '../sources/source.js';
import { type TeachOptions, teachSchema } from './options.js';

/** Options of widen(). */
export interface WidenOptions extends Pick<TeachOptions, 'revision' | 'token' | 'offline' | 'signal'> {
  /** The precision in which the model will be loaded: weights that have it already are not widened. */
  dtype?: Dtype;
}

/**
 * Returns the model with its weights as float32, in memory, if they are q8 or q4; otherwise returns `source`. `pipeline()` can then load it in
 * any precision. The weights keep the values to which they were rounded. teach() and pretrain() widen by themselves.
 *
 * @throws PeruseError: those of reading the files.
 */
export async function widen(source: Source, settings: WidenOptions = {}): Promise<Source> {
  try {
    const { revision, token, offline, signal } = teachSchema();
    const schema = { revision, token, offline, signal, dtype: { kind: kDtypes } } as ReturnType<typeof teachSchema>;
    const { dtype, ...options } = checkOptions(settings, schema, 'widen()');
    const spec = await resolveSource(source, options, runtime().paths);
    const kit = await runtime().kit!();
    return (await kit.readWidened(spec, dtype, runtime(), options.signal ?? new AbortController().signal)) ?? source;
  } catch (error) {
    throw asArgumentError(error);
  }
}
