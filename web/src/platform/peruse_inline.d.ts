/** Declares the bundle before it is built; tools/bundle_inline.mjs writes the same declarations. */
declare module '*/peruse-inline.js' {
  export function embeddedBuild(variant: string): Promise<WebAssembly.Module>;
  export function workerCode(platform: 'browser' | 'node'): Promise<string>;
}
