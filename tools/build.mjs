#!/usr/bin/env node
// Builds Peruse: node tools/build.mjs [--variants simd,relaxed,simd-threads,relaxed-threads,webgpu] [--native debug|release]
// Without options: all wasm variants (to web/wasm), the TypeScript (to web/dist) and the demo page (to web/demo). Builds are incremental, in build/<preset>.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { capture } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { buildPackagedDemo } from './packaged_demo.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

/** The last computes on a GPU, the others on the CPU. */
export const kVariants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads', 'webgpu'];

/** Configures a preset where needed and builds the targets; returns the build folder. */
export function buildPreset(preset, targets) {
  const folder = join(root, 'build', preset);
  if (!existsSync(join(folder, 'build.ninja'))) capture('cmake', ['--preset', preset], { cwd: root });
  capture('ninja', ['-C', folder, `-j${availableParallelism()}`, ...targets]);
  return folder;
}

/**
 * Emscripten's glue imports modules of Node where it runs in Node. Bundlers for the browser look for them everywhere and give up,
 * unless the imports are hidden from them.
 */
function forBundlers(glue) {
  const hidden = glue.replaceAll(/import\((['"])([\w:]+)\1\)/g, 'import(/* webpackIgnore: true *//* @vite-ignore */["$2"][0])');
  if (hidden === glue) throw new Error('the glue no longer imports anything: is forBundlers still needed?');
  return hidden;
}

function buildVariant(variant) {
  const folder = variant === 'webgpu' ? buildPreset('wasm-simd', ['peruse_webgpu']) : buildPreset(`wasm-${variant}`, ['peruse']);
  const out = join(root, 'web/wasm');
  mkdirSync(out, { recursive: true });
  const name = `peruse-${variant}`;
  copyFileSync(join(folder, `${name}.wasm`), join(out, `${name}.wasm`));
  writeFileSync(join(out, `${name}.mjs`), forBundlers(readFileSync(join(folder, `${name}.mjs`), 'utf8')));
  return `${(statSync(join(out, `peruse-${variant}.wasm`)).size / 1024).toFixed(0)} KB`;
}

/** Builds that were made of an older tree and are no more: what lies in web/wasm goes into the package. */
function removeOtherBuilds() {
  const out = join(root, 'web/wasm');
  const known = new Set(kVariants.flatMap((variant) => [`peruse-${variant}.wasm`, `peruse-${variant}.mjs`]));
  for (const name of existsSync(out) ? readdirSync(out) : []) {
    if (!known.has(name)) rmSync(join(out, name), { recursive: true });
  }
}

/** Builds the named wasm variants into web/wasm. */
export async function buildVariants(variants = kVariants) {
  removeOtherBuilds();
  for (const variant of variants) await step(`wasm ${variant}`, () => buildVariant(variant));
}

/** Compiles web/src to web/dist. */
export async function buildTypeScript() {
  await step('node packages', installNodeModules);
  await step('TypeScript', () => {
    rmSync(join(root, 'web/dist'), { recursive: true, force: true });  // The compiler leaves the output of files that are gone.
    capture('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json'], { cwd: root });
  });
}

function parseOptions() {
  const { values } = parseArgs({ options: { variants: { type: 'string' }, native: { type: 'string' } } });
  const variants = values.variants?.split(',');
  const unknown = variants?.find((name) => !kVariants.includes(name));
  if (unknown !== undefined) throw new Error(`no variant '${unknown}'; there are ${kVariants.join(', ')}`);
  if (values.native && !['debug', 'release'].includes(values.native)) throw new Error('--native is debug or release');
  return { variants, native: values.native };
}

async function main() {
  const { variants, native } = parseOptions();
  await setup();
  if (native) await step(`native ${native}`, () => void buildPreset(`native-${native}`, ['peruse_core', 'peruse_tests']));
  if (variants || !native) await buildVariants(variants);
  if (variants || native) return;
  await buildTypeScript();
  await step('demo page', buildPackagedDemo);
}

await runAsProgram(import.meta.url, main);
