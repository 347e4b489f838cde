// Measures one shape on Dawn in a separate process, whose environment must name the adapter (tests/node/gpu/with_swiftshader.mjs). Reads
// { folder, onnx: paths by precision, dtypes, batches, profile } as JSON from its argument, and prints the measurements as its last line.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { shaders } from '../../node/gpu/shader_names.mjs';
import { profileDispatches } from './gpu_profile.mjs';
import { countCalls, measurePeak, measureShape, onnxPrecisions } from './gpu_subject.mjs';
import { kOrt } from './stage.mjs';

const { folder, onnx, dtypes, batches, profile } = JSON.parse(process.argv[2]);
const { create, globals } = await import('webgpu');
Object.assign(globalThis, globals);
const gpu = create([]);
const peak = await measurePeak(gpu);
const counts = countCalls(globals);
const profiler = profile ? profileDispatches(globals, shaders()) : undefined;
const { pipeline } = await import('../../../web/dist/index_node.js');
const bytes = (file) => new Uint8Array(readFileSync(file));
const model = {
  pipeline,
  config: bytes(join(folder, 'config.json')),
  weights: bytes(join(folder, 'model.safetensors')),
  dtypes,
  batches,
  counts,
};

let ort;
if (onnx !== undefined && !profile) {
  Object.defineProperty(globalThis, 'navigator', { value: { gpu, hardwareConcurrency: 1, userAgent: 'Node' }, configurable: true });
  ort = await import(pathToFileURL(join(kOrt, 'ort.webgpu.min.mjs')).href);
  Object.assign(ort.env.wasm, { wasmPaths: `${pathToFileURL(kOrt).href}/`, numThreads: 1 });
  ort.env.logLevel = 'fatal';
}
const files = ort && Object.fromEntries((await onnxPrecisions(gpu)).map((dtype) => [dtype, bytes(onnx[dtype])]));
const found = profile ? await profiler.measure(model) : await measureShape({ ...model, ort, onnx: files });
console.log(JSON.stringify({ peak, found }));
process.exit(0);
