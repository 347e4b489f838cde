// What Emscripten's glue in web/wasm exports: one for the builds without threads, one for those with, one for the GPU's.
declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}
