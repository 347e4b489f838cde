// Web types in the package's own declarations. Without TypeScript's DOM library, which declares them, they accept any object.

type Module = typeof globalThis extends { WebAssembly: { Module: { prototype: infer M } } } ? M : object;

/** WebAssembly.Module: a compiled module. An interface, because declarations of inferred types keep its name. */
export interface WasmModule extends Module {}

export type WasmInstance = typeof globalThis extends { WebAssembly: { Instance: { prototype: infer I } } } ? I : object;

/** One end of a MessageChannel. */
export type Port = typeof globalThis extends { MessagePort: { prototype: infer P } } ? P : object;
