/** The contents of peruse-inline.js, gzipped and in base64, from tools/bundle_inline.mjs. */
declare module 'peruse-embedded' {
  /** The engine's builds with plain SIMD, without and with threads. */
  export const builds: { simd: string; 'simd-threads': string };
  /** The workers' scripts: a classic script for browsers, a CommonJS module for Node. */
  export const workers: { browser: string; node: string };
}
