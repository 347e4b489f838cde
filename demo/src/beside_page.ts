// Models next to the page have weights of 8 bits, some with token embeddings of 4. Another precision needs them as floats.

import type { Source } from '../peruse/peruse.js';
import { env } from '../peruse/peruse.js';
import type { Settings } from './model_picker.js';

/** Precisions of safetensors. The others are names of ONNX files. */
const kWidened = ['fp32', 'fp16', 'q8', 'q4'] as const;

/** Returns the source to load for a precision; widens the weights of a model next to the page if they have another one. */
export async function sourceFor({ source, dtype }: Pick<Settings, 'source' | 'dtype'>, signal: AbortSignal): Promise<Source> {
  const widened = kWidened.find((one) => one === dtype);
  if (widened === undefined || !liesBesidePage(source)) return source;
  env.cache = false; // The page's service worker stores the models next to the page.
  const { widen } = await import('../peruse/peruse-teach.js');
  return widen(source, { dtype: widened, signal });
}

export function liesBesidePage(source: Source): source is string {
  return typeof source === 'string' && source.startsWith(`${location.origin}/`);
}
