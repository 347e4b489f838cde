// A build of the engine for reading files alone (Node).
import { startCpuBuild } from '../engine/builds.js';
import type { EngineModule } from '../engine/engine.js';
import { chooseVariant } from '../engine/variant.js';
import { nodeWasm } from '../engine/wasm_node.js';
import { nodePlatform } from '../platform/platform_node.js';

let module: Promise<EngineModule> | undefined;

export function readerModule(): Promise<EngineModule> {
  const choice = chooseVariant(nodePlatform.features(false), { threads: 1 });
  module ??= startCpuBuild({ choice, parts: nodeWasm }).then((started) => started.module);
  return module;
}
