// Engines in Node that read checkpoints without running them.
import createPlain from '../../wasm/glue-teach.mjs';
import { startCpuEngine } from '../engine/cpu_engine.js';
import type { Engine, ModuleFactory } from '../engine/engine.js';
import { compileRead, type InstalledFile } from '../engine/installed_node.js';
import { kStandInTokenizer } from '../engine/models/describe_model.js';
import { startModule } from '../engine/start_module.js';
import { chooseVariant } from '../engine/variant.js';
import { nodeWasm } from '../engine/wasm_node.js';
import type { ToolModule } from '../engine/weights_reader.js';
import { nodeRuntime } from '../platform/platform_node.js';
import { kLabelsTokenizer } from '../sources/label_models.js';
import type { EngineTask } from '../tasks/definition.js';

const kBuild: InstalledFile = {
  path: 'bundle/peruse-teach.wasm',
  own() {
    return new URL('../../bundle/peruse-teach.wasm', import.meta.url);
  },
};

let module: Promise<ToolModule> | undefined;

/** Starts the build that contains the weights reader: the training build. */
export function readerModule(): Promise<ToolModule> {
  const factory = createPlain as unknown as ModuleFactory<ToolModule>; // all loaders are declared as the engine's
  module ??= startModule(factory, 'teach', 1, undefined, { compile: (_, folder) => compileRead(kBuild, folder) }).then(
    (started) => started.module,
  );
  return module;
}

/** Opens a checkpoint in an engine, with config.json and a stand-in for its tokenizer: checks whether the engine runs it. */
export async function withModel<T>(
  { name: task }: EngineTask,
  dtype: string,
  config: Uint8Array,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await startCpuEngine({ choice: chooseVariant(nodeRuntime.features(false), { threads: 1 }), builds: nodeWasm });
  try {
    engine.addFile('config.json', config);
    for (const folder of ['', kLabelsTokenizer]) engine.addFile(`${folder}tokenizer.json`, kStandInTokenizer);
    await engine.open({ task, dtype });
    return await use(engine);
  } finally {
    engine.dispose();
  }
}
