// Checks in Node whether the engine runs a checkpoint, with config.json and tensor headers only.
import { startCpuEngine } from '../engine/cpu_engine.js';
import { kStandInTokenizer } from '../engine/describe_model.js';
import type { Engine } from '../engine/engine.js';
import { chooseVariant } from '../engine/variant.js';
import { nodeWasm } from '../engine/wasm_node.js';
import { nodeRuntime } from '../platform/platform_node.js';
import { kLabelsTokenizer } from '../sources/label_models.js';
import type { EngineTask } from '../tasks/definition.js';

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
