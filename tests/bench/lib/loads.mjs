// Loading a checkpoint of full size: bytes that a visitor downloads, the time that the engine takes for them, and memory. The
// weights are made on the fly and fed as they would arrive; the network is not measured.
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { root } from '../../../tools/setup/root.mjs';
import { checkpointBytes } from './checkpoint.mjs';
import { timeBy } from './measure.mjs';
import { buildModule, exportOnnx, randomModel } from './prepare.mjs';
import { batchOf, shapeConfig } from './shapes.mjs';
import { median, medianRatio } from './statistics.mjs';
import { nodeSubject } from './subjects.mjs';

const kOrtUrl = pathToFileURL(join(root, 'tests/bench/node_modules/onnxruntime-web/dist/ort.node.min.mjs')).href;

/** For each shape and precision: { shape, dtype, downloadBytes, weightBytes, seconds, loadedBytes, peakBytes }. */
export async function measureLoads({ shapes, dtypes, variants, task }) {
  const url = pathToFileURL(join(await buildModule(variants.at(-1)), 'peruse_bench.mjs')).href;
  const loads = [];
  for (const shape of shapes) {
    const config = shapeConfig(shape);
    for (const dtype of dtypes) {
      const subject = await nodeSubject({ kind: 'peruse', url, threads: 1 });
      try {
        const { weightBytes, engineSeconds } = await subject.ask('load', { config, task, dtype });
        const { heapBytes: loadedBytes } = await subject.ask('memory');
        await subject.ask('batch', { ids: batchOf('384') });
        await subject.ask('run', { calls: 2 });
        const { heapBytes: peakBytes } = await subject.ask('memory');
        loads.push({ shape, dtype, downloadBytes: checkpointBytes(config), weightBytes, seconds: engineSeconds, loadedBytes, peakBytes });
      } catch (error) {
        if (!/does not hold weights as/.test(error.message)) throw error;
      } finally {
        subject.close();
      }
    }
  }
  return loads;
}

/**
 * From a file on the disk to the first answer (16 tokens), in a new worker each time: the module starts, the weights are read, a text is run.
 * Beside onnxruntime-web with its files. For each shape and file: { shape, file, fileBytes, dtype, weightBytes, heapBytes, seconds, ort: {
 * fileBytes, seconds }, overOrt }, times as medians over the rounds.
 */
export async function measureFirstAnswers({ shapes, variants, rounds, task, clock }) {
  const url = pathToFileURL(join(await buildModule(variants.at(-1)), 'peruse_bench.mjs')).href;
  const rows = [];
  for (const shape of shapes) {
    const config = shapeConfig(shape);
    const folder = await randomModel(shape, { whole: true });
    const { halfWeights, ...onnx } = await exportOnnx(folder, task, { half: true });
    const fullWeights = join(folder, 'model.safetensors');
    const cases = [
      { weights: fullWeights, dtype: 'f32', onnx: onnx.f32 },
      { weights: halfWeights, dtype: 'f32', onnx: onnx.f16 },
      { weights: halfWeights, dtype: 'f16', onnx: onnx.f16 },
      { weights: fullWeights, dtype: 'q8', onnx: onnx.q8 },
      { weights: halfWeights, dtype: 'q8', onnx: onnx.q8 },
    ];
    for (const { weights, dtype, onnx: file } of cases) {
      const times = { peruse: [], ort: [] };
      let memory;
      for (let round = 0; round < rounds; ++round) {
        const own = await firstAnswer({ kind: 'peruse', url, threads: 1 }, { config, task, dtype, weights });
        const other = await firstAnswer({ kind: 'ort', url: kOrtUrl, threads: 1 }, { onnx: file });
        memory = own.memory;
        times.peruse.push(timeBy(clock, own.spent));
        times.ort.push(timeBy(clock, other.spent));
      }
      rows.push({
        shape,
        file: weights === halfWeights ? 'F16' : 'F32',
        fileBytes: statSync(weights).size,
        dtype,
        ...memory,
        seconds: median(times.peruse),
        ort: { file: file.slice(folder.length + 1), fileBytes: statSync(file).size, seconds: median(times.ort) },
        overOrt: medianRatio(times.ort, times.peruse),
      });
    }
  }
  return rows;
}

async function firstAnswer(create, load) {
  const subject = await nodeSubject(create);
  try {
    const { weightBytes } = await subject.ask('load', load);
    await subject.ask('batch', { ids: batchOf('16') });
    await subject.ask('run', { calls: 1 });
    const spent = await subject.ask('spent');
    const { heapBytes } = await subject.ask('memory');
    return { spent, memory: { weightBytes, heapBytes } };
  } finally {
    subject.close();
  }
}
