// Loads checkpoints of full size: bytes to download, time, and memory. Weights are generated and fed in chunks, without a network.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkpointBytes } from './checkpoint.mjs';
import { timeBy } from './measure.mjs';
import { buildModule, exportOnnx, modelOf } from './prepare.mjs';
import { batchOf, shapeConfig } from './shapes.mjs';
import { kOrt, openStage } from './stage.mjs';
import { median, medianRatio } from './statistics.mjs';
import { nodeSubject } from './subjects.mjs';

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

/** Times from a file on disk to the first answer (16 tokens), in a new worker each time, for Peruse and onnxruntime-web. Medians over the rounds. */
export async function measureFirstAnswers({ shapes, runtimes, ...options }, environment) {
  const rows = [];
  for (const runtime of runtimes.filter((name) => name !== 'native')) {
    const stage = await openStage(runtime, environment);
    for (const shape of shapes) rows.push(...(await firstAnswersOf(shape, stage, options)).map((row) => ({ runtime, ...row })));
    await stage.close();
  }
  return rows;
}

async function firstAnswersOf(shape, stage, { variants, rounds, task, clock }) {
  const peruse = { kind: 'peruse', url: stage.module(join(await buildModule(variants.at(-1)), 'peruse_bench.mjs')), threads: 1 };
  const ort = { kind: 'ort', url: stage.module(join(kOrt, stage.ort)), threads: 1 };
  const config = shapeConfig(shape);
  const folder = await modelOf(shape, { whole: true });
  const { halfWeights, ...onnx } = await exportOnnx(folder, task, { half: true });
  const fullWeights = join(folder, 'model.safetensors');
  const cases = [
    { weights: fullWeights, dtype: 'f32', onnx: onnx.f32 },
    { weights: halfWeights, dtype: 'f32', onnx: onnx.f16 },
    { weights: halfWeights, dtype: 'f16', onnx: onnx.f16 },
    { weights: fullWeights, dtype: 'q8', onnx: onnx.q8 },
    { weights: halfWeights, dtype: 'q8', onnx: onnx.q8 },
  ];
  const rows = [];
  for (const { weights, dtype, onnx: file } of cases) {
    const times = { peruse: [], ort: [] };
    let memory;
    for (let round = 0; round < rounds; ++round) {
      const own = await firstAnswer(stage, peruse, { config, task, dtype, weights: stage.path(weights) });
      const other = await firstAnswer(stage, ort, { onnx: stage.path(file) });
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
  return rows;
}

async function firstAnswer(stage, create, load) {
  const subject = await stage.start(undefined, create);
  try {
    const { weightBytes } = await subject.ask('load', load);
    await subject.ask('batch', { ids: batchOf('16'), count: false }); // Counting operations is a run of its own.
    await subject.ask('run', { calls: 1 });
    const spent = await subject.ask('spent');
    const { heapBytes } = await subject.ask('memory');
    return { spent, memory: { weightBytes, heapBytes } };
  } finally {
    await subject.close();
  }
}
