/** What tools/bundle_inline.mjs puts into peruse-inline.js: gzip, as base64. */
declare module 'peruse-embedded' {
  /** The engine's builds: plain SIMD without and with threads. */
  export const builds: { simd: string; 'simd-threads': string };
  /** The workers' scripts: a classic script for browsers, a CommonJS module for Node. */
  export const workers: { browser: string; node: string };
}
