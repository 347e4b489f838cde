// What Emscripten's modules in web/wasm export.
declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}
