#!/usr/bin/env node
// Builds Peruse: node tools/build.mjs [--variants simd,relaxed,simd-threads,relaxed-threads,webgpu,tokenizer,teach,teach-threads]
//   [--native debug|release]
// Without options: all wasm builds (web/wasm), the TypeScript (web/dist, web/bundle) and the demo page (web/demo).
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle, linkBuilds } from './bundle.mjs';
import { buildDemoPackage } from './demo_package.mjs';
import { buildPackagedDemo } from './packaged_demo.mjs';
import { capture, captureAsync } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';
import { glueOf, kBeside, kVariants } from './variants.mjs';
import { splitNames, symbolLines } from './wasm/names.mjs';
import { sortFunctions } from './wasm/sort_functions.mjs';

const kProcesses = Number(process.env.CMAKE_BUILD_PARALLEL_LEVEL ?? availableParallelism());

function folderOf(preset) {
  return join(root, 'build', preset);
}

/** Whether CMake has run since the presets changed. */
function isConfigured(preset) {
  const file = join(folderOf(preset), 'build.ninja');
  return existsSync(file) && statSync(file).mtimeMs > statSync(join(root, 'CMakePresets.json')).mtimeMs;
}

function buildCommands(preset, targets, processes) {
  const configure = isConfigured(preset) ? [] : [['cmake', ['--preset', preset]]];
  return [...configure, ['ninja', ['-C', folderOf(preset), `-j${processes}`, ...targets]]];
}

export function buildPreset(preset, targets) {
  for (const [program, args] of buildCommands(preset, targets, kProcesses)) capture(program, args, { cwd: root });
  return folderOf(preset);
}

/** Builds one of `count` presets that are built at the same time. */
export async function buildPresetBeside(preset, targets, count) {
  const processes = Math.ceil(kProcesses / count) + 1; // one more, because a link occupies one processor for long
  for (const [program, args] of buildCommands(preset, targets, processes)) await captureAsync(program, args, { cwd: root });
}

/** Removes file names and requests from Emscripten's loader, which is always given its files. (Rolldown 1.2 would break the names.) */
function withoutNames(glue, variant) {
  let text = glue.replaceAll(`peruse-${variant}`, 'peruse');
  for (const code of [
    /^.*var _scriptName = .*$/m,
    /if\(_scriptName\)\{scriptDirectory=_scriptName\}/,
    /if\(ENVIRONMENT_IS_WEB\|\|ENVIRONMENT_IS_WORKER\)\{if\(ENVIRONMENT_IS_WORKER\)\{scriptDirectory=.*?\}else\{\}(?=var out=)/,
    /wasmBinaryFile\?\?=findWasmBinary\(\);instantiateAsync\(.*?\.catch\(readyPromiseReject\);return\{\}(?=\})/,
  ]) {
    if (!code.test(text)) throw new Error(`the glue holds no ${code}: is this still needed?`);
    text = text.replace(code, '');
  }
  return text;
}

/** Builds an engine into the folder `out`. */
export function buildVariant(variant, out = join(root, 'web/wasm')) {
  const [preset, target] = kBeside[variant] ?? [`wasm-${variant}`, 'peruse'];
  const folder = buildPreset(preset, [target]);
  mkdirSync(out, { recursive: true });
  const name = `peruse-${variant}`;
  const linked = splitNames(readFileSync(join(folder, `${name}.wasm`)));
  const { wasm, names } = sortFunctions(linked.wasm, linked.names);
  writeFileSync(join(out, `${name}.wasm`), wasm);
  writeFileSync(join(out, `${name}.symbols`), symbolLines(names)); // for tests/node/engine_code.test.ts
  writeFileSync(join(out, glueOf(variant)), withoutNames(readFileSync(join(folder, `${name}.mjs`), 'utf8'), variant));
  return `${(statSync(join(out, `${name}.wasm`)).size / 1024).toFixed(0)} KB`;
}

/** Plain and relaxed SIMD share a loader, so throws if theirs differ. */
function checkGlue() {
  for (const threads of ['', '-threads']) {
    const [plain, relaxed] = ['simd', 'relaxed'].map((simd) => {
      const variant = simd + threads;
      return withoutNames(readFileSync(join(root, `build/wasm-${variant}/peruse-${variant}.mjs`), 'utf8'), variant);
    });
    if (plain !== relaxed) throw new Error(`the glue of simd${threads} is not that of relaxed${threads}`);
  }
}

function removeOtherBuilds() {
  const out = join(root, 'web/wasm');
  const known = new Set(kVariants.flatMap((variant) => [`peruse-${variant}.wasm`, `peruse-${variant}.symbols`, glueOf(variant)]));
  for (const name of existsSync(out) ? readdirSync(out) : []) {
    if (!known.has(name)) rmSync(join(out, name), { recursive: true });
  }
}

export async function buildVariants(variants = kVariants) {
  removeOtherBuilds();
  for (const variant of variants) await step(`wasm ${variant}`, () => buildVariant(variant));
  if (variants.length === kVariants.length) checkGlue();
  linkBuilds();
}

/** Compiles web/src to web/dist for Node. */
export async function compileTypeScript() {
  await step('node packages', installNodeModules);
  await step('TypeScript', async () => {
    rmSync(join(root, 'web/dist'), { recursive: true, force: true }); // otherwise output of removed files would stay
    await captureAsync('npx', ['--no-install', 'tsc', '-p', 'tsconfig.build.json'], { cwd: root });
  });
}

/** Bundles web/dist to web/bundle for pages. `made` lists the existing builds. */
export async function buildBundles(made = kVariants) {
  await step('bundles', () => bundle(made));
}

/** Builds web/dist, web/wasm and web/bundle. Bundles contain the loaders of web/wasm, so they come last. */
export async function buildLibrary(variants = kVariants) {
  await compileTypeScript();
  await buildVariants(variants);
  await buildBundles(variants);
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
  if (variants) await buildVariants(variants);
  if (variants || native) return;
  await buildLibrary();
  await step('demo page', buildPackagedDemo);
  await step('demo models', async () => void (await buildDemoPackage()));
}

await runAsProgram(import.meta.url, main);
