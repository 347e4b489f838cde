// Texts that are too long are cut, as in transformers and transformers.js, but not silently.
import { PeruseError } from '../errors.js';
import type { CallOptions, Run } from './call.js';
import type { CallContext, TextInput } from './definition.js';

/** Runs inputs. Unless `truncation` or `stride` is given, texts that are too long are cut, and a notice says by how many tokens. */
export async function runCutting(
  run: Run,
  inputs: TextInput[],
  settings: Record<string, unknown>,
  options: CallOptions,
  { describeCuts }: CallContext,
): Promise<unknown[]> {
  const { truncation, stride, max_length } = settings;
  if (truncation !== undefined || stride !== undefined) return run(inputs, settings, options);
  const cutting = { ...settings, truncation: true };
  if (max_length !== undefined) return run(inputs, cutting, options);
  try {
    return await run(inputs, settings, options);
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'text_too_long') throw error;
    const results = await run(inputs, cutting, options);
    await describeCuts?.(inputs);
    return results;
  }
}
