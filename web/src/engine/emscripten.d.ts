declare module '*.mjs' {
  const factory: import('./engine.js').EngineModuleFactory;
  export default factory;
}
