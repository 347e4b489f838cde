import { join } from 'node:path';
import { buildBundles, buildPresetBeside, buildVariants, compileTypeScript } from '../build.mjs';
import { kTargets } from '../fuzz.mjs';
import { installNodeModules } from '../setup/node_modules.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { kBeside, kVariants } from '../variants.mjs';

function engineTargets() {
  return kVariants.map((variant) => kBeside[variant] ?? [`wasm-${variant}`, 'peruse']);
}

async function bundleLibrary() {
  await buildVariants();
  await buildBundles();
}

/**
 * A build has pairs of a preset and a target for ninja, a function to call while they are built, and one to call after them. One run of ninja
 * makes all targets of a preset.
 */
const kBuilds = {
  lint: { beside: () => step('formatter and linter', () => installNodeModules(join(root, 'tools/lint'))) },
  node_modules: { beside: () => step('node packages', installNodeModules) },
  native: { targets: [['native-debug', 'peruse_tests']] },
  wasm: { targets: [['wasm-simd', 'peruse_wasm_tests']] },
  'wasm-other': { targets: [['wasm-simd', 'peruse_wasm_other_tests']] },
  gpu: { targets: [['wasm-simd', 'peruse_gpu_tests']] },
  int8_bits: { targets: ['simd', 'relaxed'].map((variant) => [`wasm-${variant}`, 'int8_bits']) },
  library: { targets: engineTargets(), beside: compileTypeScript, after: bundleLibrary },
  fuzzers: { targets: Object.keys(kTargets).map((name) => ['native-fuzz', `${name}_fuzz`]) },
  hosts: { beside: () => step('bundlers and runtimes', () => installNodeModules(join(root, 'tests/packaging'))) },
};

/** Presets of a series are built one after the other, because ccache shares objects between them. Others are series of their own. */
const kSeries = [['wasm-simd', 'wasm-relaxed'], ['wasm-simd-threads', 'wasm-relaxed-threads'], ['native-debug'], ['native-fuzz']];
const kAtOnce = 2;

export const kBuildNames = Object.keys(kBuilds);

export async function makeBuilds(names) {
  const wanted = kBuildNames.filter((name) => names.has(name));
  const failed = new Map();
  const fail = (name, error) => {
    console.error(error.message);
    failed.set(name, error);
  };
  const call = async (step, names) => {
    for (const name of names) {
      try {
        if (!failed.has(name)) await kBuilds[name][step]?.();
      } catch (error) {
        fail(name, error);
      }
    }
  };
  const compiled = buildAll(byPreset(wanted), (preset, error) => {
    for (const name of wanted.filter((of) => kBuilds[of].targets?.some(([made]) => made === preset))) fail(name, error);
  });
  await call('beside', wanted); // packages of npm, which mostly wait for the network, and TypeScript, which occupies one processor
  await compiled;
  await call('after', wanted);
  return failed;
}

/** Builds presets, two at the same time, because a link occupies one processor for long. */
async function buildAll(targetsOf, fail) {
  const others = [...targetsOf.keys()].filter((preset) => !kSeries.flat().includes(preset));
  const all = [...kSeries, ...others.map((preset) => [preset])];
  const series = all.map((presets) => presets.filter((preset) => targetsOf.has(preset))).filter((presets) => presets.length > 0);
  const count = Math.min(kAtOnce, series.length);
  const worker = async () => {
    for (let presets = series.shift(); presets !== undefined; presets = series.shift()) {
      for (const preset of presets) {
        const start = performance.now();
        const name = `build ${preset} (${targetsOf.get(preset).join(' ')})`;
        try {
          await buildPresetBeside(preset, targetsOf.get(preset), count);
          console.log(`${name} ... done (${((performance.now() - start) / 1000).toFixed(1)} s)`);
        } catch (error) {
          console.log(`${name} ... FAILED`);
          fail(preset, error);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: count }, worker));
}

function byPreset(names) {
  const presets = new Map();
  for (const [preset, target] of names.flatMap((name) => kBuilds[name].targets ?? [])) {
    if (!presets.has(preset)) presets.set(preset, []);
    presets.get(preset).push(target);
  }
  return presets;
}
