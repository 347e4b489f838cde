// Exports of Emscripten's JavaScript loaders in web/wasm.
declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}
