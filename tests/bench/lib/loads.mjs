// Loading a checkpoint of full size: bytes that a visitor downloads, the time that the engine takes for them, and memory. The
// weights are made on the fly and fed as they would arrive; the network is not measured.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { checkpointBytes } from './checkpoint.mjs';
import { buildModule } from './prepare.mjs';
import { batchOf, shapeConfig } from './shapes.mjs';
import { nodeSubject } from './subjects.mjs';

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
