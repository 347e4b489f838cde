import { builds, workers } from 'peruse-embedded';
import type { Variant } from '../engine/variant.js';
import { PeruseError } from '../errors.js';

const kCompiled = new Map<Variant, Promise<WebAssembly.Module>>();

/** Compiles an embedded build, once per thread. Throws 'no_wasm'. */
export function embeddedBuild(variant: Variant): Promise<WebAssembly.Module> {
  const compiled = kCompiled.get(variant) ?? compile(variant);
  kCompiled.set(variant, compiled);
  compiled.catch(() => kCompiled.delete(variant));
  return compiled;
}

async function compile(variant: Variant): Promise<WebAssembly.Module> {
  if (variant !== 'simd' && variant !== 'simd-threads') {
    throw new PeruseError('unsupported', `'peruse/inline' holds the builds simd and simd-threads, not '${variant}'.`);
  }
  try {
    return await WebAssembly.compile(await unpack(builds[variant]));
  } catch (error) {
    throw new PeruseError('no_wasm', `The engine's build '${variant}' could not be compiled: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export async function workerCode(platform: keyof typeof workers): Promise<string> {
  return new TextDecoder().decode(await unpack(workers[platform]));
}

async function unpack(packed: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const zlib = globalThis.process?.getBuiltinModule?.('node:zlib'); // preferred, because jsdom lacks the browser's streams
  if (zlib) return new Uint8Array(zlib.gunzipSync(bytes));
  if (typeof DecompressionStream !== 'function') throw new Error('there is no DecompressionStream here');
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
