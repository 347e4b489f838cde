// Exports of Emscripten's JavaScript loaders in web/wasm: one for builds without threads, one with threads, one for the GPU.
declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}
