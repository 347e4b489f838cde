// Files that the build makes: the engine's loaders, and peruse/inline (tools/bundle_inline.mjs).
declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}

/** The bundle before it is built. */
declare module '*/peruse-inline.js' {
  export const _internals: {
    embeddedBuild(variant: string): Promise<WebAssembly.Module>;
    workerCode(platform: 'browser' | 'node'): Promise<string>;
  };
}

/** The contents of peruse-inline.js, gzipped and in base64. */
declare module 'peruse-embedded' {
  /** The engine's builds with plain SIMD, without and with threads. */
  export const builds: { simd: string; 'simd-threads': string };
  /** The workers' scripts: a classic script for browsers, a CommonJS module for Node. */
  export const workers: { browser: string; node: string };
}
