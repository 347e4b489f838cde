import { join } from 'node:path';
import { buildLibrary, buildPreset } from '../build.mjs';
import { kTargets } from '../fuzz.mjs';
import { installNodeModules } from '../setup/node_modules.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { kBeside, kVariants } from '../variants.mjs';

function engineTargets() {
  return kVariants.map((variant) => kBeside[variant] ?? [`wasm-${variant}`, 'peruse']);
}

/** Each build: [preset, target] pairs for ninja, and a function to call afterwards. One run of ninja makes all targets of a preset. */
const kBuilds = {
  lint: { after: () => step('formatter and linter', () => installNodeModules(join(root, 'tools/lint'))) },
  node_modules: { after: () => step('node packages', installNodeModules) },
  native: { targets: [['native-debug', 'peruse_tests']] },
  wasm: { targets: [['wasm-simd', 'peruse_wasm_tests']] },
  'wasm-other': { targets: [['wasm-simd', 'peruse_wasm_other_tests']] },
  gpu: { targets: [['wasm-simd', 'peruse_gpu_tests']] },
  int8_bits: { targets: ['simd', 'relaxed'].map((variant) => [`wasm-${variant}`, 'int8_bits']) },
  library: { targets: engineTargets(), after: buildLibrary },
  fuzzers: { targets: Object.keys(kTargets).map((name) => ['native-fuzz', `${name}_fuzz`]) },
  hosts: { after: () => step('bundlers and runtimes', () => installNodeModules(join(root, 'tests/packaging'))) },
};

export const kBuildNames = Object.keys(kBuilds);

export async function makeBuilds(names) {
  const wanted = kBuildNames.filter((name) => names.has(name));
  const failed = new Map();
  const fail = (name, error) => {
    console.error(error.message);
    failed.set(name, error);
  };
  for (const [preset, targets] of byPreset(wanted)) {
    const ofPreset = wanted.filter((name) => kBuilds[name].targets?.some(([of]) => of === preset));
    try {
      await step(`build ${preset} (${targets.join(' ')})`, () => void buildPreset(preset, targets));
    } catch (error) {
      for (const name of ofPreset) fail(name, error);
    }
  }
  for (const name of wanted) {
    try {
      if (!failed.has(name)) await kBuilds[name].after?.();
    } catch (error) {
      fail(name, error);
    }
  }
  return failed;
}

function byPreset(names) {
  const presets = new Map();
  for (const [preset, target] of names.flatMap((name) => kBuilds[name].targets ?? [])) {
    if (!presets.has(preset)) presets.set(preset, []);
    presets.get(preset).push(target);
  }
  return presets;
}
