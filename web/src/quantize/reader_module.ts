// Starts the build of the engine that contains the weights reader: the training build.
import createPlain from '../../wasm/glue-teach.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import type { InstalledFile } from '../engine/installed_node.js';
import { compileRead } from '../engine/read_wasm_node.js';
import { startModule } from '../engine/start_module.js';
import type { ToolModule } from '../engine/weights_reader.js';

const kBuild: InstalledFile = {
  path: 'bundle/peruse-teach.wasm',
  own() {
    return new URL('../../bundle/peruse-teach.wasm', import.meta.url);
  },
};

let module: Promise<ToolModule> | undefined;

export function readerModule(): Promise<ToolModule> {
  const factory = createPlain as unknown as ModuleFactory<ToolModule>; // all loaders are declared as the engine's
  module ??= startModule(factory, 'teach', 1, undefined, { compile: (_, folder) => compileRead(kBuild, folder) }).then(
    (started) => started.module,
  );
  return module;
}
