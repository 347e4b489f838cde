#!/usr/bin/env node
// Compares every hidden state of base-size models with random weights on the GPU and the CPU. Too slow on a software adapter for npm test.
// Needs npm run build, and the weights of npm run bench:
//   node tests/node/gpu/with_swiftshader.mjs node tests/node/gpu/base_size.mjs [shapes] [tokens,tokens,...]
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from '../../../web/dist/index_node.js';
import { idTokenizer } from '../../bench/lib/gpu_subject.mjs';
import { modelOf } from '../../bench/lib/prepare.mjs';
import { batchOf } from '../../bench/lib/shapes.mjs';

const [shapes = 'convbert_base,deberta_v3_base', lengths = '1,37,200'] = process.argv.slice(2);
const kLargestError = 1e-4; // float32: relative if the value is above 1
const kMeanSquare = 1e-5; // float16: mean square of the error over that of the values

async function hiddenStates(files, options) {
  const model = await pipeline('text-classification', files, options);
  try {
    const found = [];
    for (const length of lengths.split(',')) {
      const text = batchOf(length)[0]
        .map((id) => `t${id}`)
        .join(' ');
      found.push((await model.inspect(text, { output_hidden_states: true })).hidden_states);
    }
    return found;
  } finally {
    await model.dispose();
  }
}

function compare(got, want) {
  let largest = 0;
  let meanSquare = 0;
  got.forEach((states, t) => {
    states.forEach(({ data }, layer) => {
      let error = 0;
      let power = 0;
      want[t][layer].data.forEach((value, i) => {
        const difference = Math.abs(data[i] - value);
        if (!(difference / Math.max(1, Math.abs(value)) <= largest)) largest = difference / Math.max(1, Math.abs(value)); // also for NaN
        error += difference ** 2;
        power += value ** 2;
      });
      if (!(error / power <= meanSquare)) meanSquare = error / power;
    });
  });
  return { largest, meanSquare };
}

let failed = false;
for (const shape of shapes.split(',')) {
  const folder = await modelOf(shape);
  const config = readFileSync(join(folder, 'config.json'));
  const files = {
    'config.json': new Uint8Array(config),
    'tokenizer.json': idTokenizer(JSON.parse(config).vocab_size),
    'model.safetensors': new Uint8Array(readFileSync(join(folder, 'model.safetensors'))),
  };
  const want = await hiddenStates(files, { device: 'cpu', dtype: 'fp32' });
  for (const dtype of ['fp32', 'fp16']) {
    const { largest, meanSquare } = compare(await hiddenStates(files, { device: 'webgpu', dtype }), want);
    const good = dtype === 'fp32' ? largest <= kLargestError : meanSquare <= kMeanSquare;
    failed ||= !good;
    console.log(
      `${shape} ${dtype}: largest error ${largest.toExponential(1)}, normalised mean square ${meanSquare.toExponential(1)}: ${good ? 'good' : 'BAD'}`,
    );
  }
}
process.exit(failed ? 1 : 0);
