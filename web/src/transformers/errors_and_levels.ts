import { PeruseError } from '../face.js';

/** transformers.js's values of `env.logLevel`, which changes nothing in Peruse. */
export const LogLevel = Object.freeze({ DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, NONE: 50 });

/** transformers.js's error for a file that does not exist: a PeruseError with the code 'not_found', for `instanceof`. */
export class ModelFileNotFoundError extends PeruseError {
  static override [Symbol.hasInstance](value: unknown): value is ModelFileNotFoundError {
    return value instanceof PeruseError && value.code === 'not_found';
  }
}
