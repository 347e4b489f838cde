/** Declares the bundle before it is built; tools/bundle_inline.mjs writes the same declarations. */
declare module '*/peruse-inline.js' {
  export const _internals: {
    embeddedBuild(variant: string): Promise<WebAssembly.Module>;
    workerCode(platform: 'browser' | 'node'): Promise<string>;
  };
}
