/** The bundle itself, as the package's other files import it, while it is not made yet. Then tools/bundle_inline.mjs declares the same. */
declare module '*/peruse-inline.js' {
  export function embeddedBuild(variant: string): Promise<WebAssembly.Module>;
  export function workerCode(platform: 'browser' | 'node'): Promise<string>;
}
