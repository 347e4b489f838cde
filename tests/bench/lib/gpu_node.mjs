// Runs Peruse on Dawn in a separate process, whose environment must name the adapter (tests/node/gpu/with_swiftshader.mjs). Reads { folder,
// dtype, batches } as JSON from its argument, and prints the measurements.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { countCalls, idTokenizer, measurePeak, measurePeruse } from './gpu_subject.mjs';

const { folder, dtype, batches } = JSON.parse(process.argv[2]);
const { create, globals } = await import('webgpu');
Object.assign(globalThis, globals);
const peak = await measurePeak(create([]));
const counts = countCalls(globals);
const { pipeline } = await import('../../../web/dist/index_node.js');
const config = readFileSync(join(folder, 'config.json'));
const files = {
  'config.json': new Uint8Array(config),
  'tokenizer.json': idTokenizer(JSON.parse(config).vocab_size),
  'model.safetensors': new Uint8Array(readFileSync(join(folder, 'model.safetensors'))),
};
console.log(JSON.stringify({ peak, ...(await measurePeruse(pipeline, { files, dtype, batches }, counts)) }));
process.exit(0);
