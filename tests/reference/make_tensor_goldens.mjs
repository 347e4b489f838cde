// Writes tests/fixtures/tensor.json: results of transformers.js's Tensor. Run it where @huggingface/transformers 4.3.1 is installed:
//   node tests/reference/make_tensor_goldens.mjs <folder with node_modules>
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${pathToFileURL(process.argv[2]).href}/`);
const { Tensor } = await import(pathToFileURL(require.resolve('@huggingface/transformers').replace(/\.cjs$/, '.mjs')).href);

const numbers = (count) => Array.from({ length: count }, (_, i) => ((i * 37) % 23) / 4 - 2.5);
const kCalls = {
  1: [['mean'], ['mean', 0], ['sigmoid'], ['slice', [1, 3]], ['slice', [-2, null]], ['normalize', 2, 0]],
  2: [
    ['mean'],
    ['mean', 0],
    ['mean', -1],
    ['mean', 1, true],
    ['normalize'],
    ['normalize', 2, -1],
    ['normalize', 4, 0],
    ['sigmoid'],
    ['slice', null, 0],
    ['slice', 1],
    ['slice', [0, 2], [1, -1]],
    ['slice', [1, 3]],
  ],
  3: [
    ['mean'],
    ['mean', 1],
    ['mean', 0, true],
    ['normalize', 2, -1],
    ['slice', null, 0],
    ['slice', 1, [0, 2], null],
    ['slice', null, -1, [1, 3]],
  ],
};
const goldens = [[5], [3, 4], [2, 3, 4]].map((dims) => {
  const data = numbers(dims.reduce((product, dim) => product * dim));
  const tensor = new Tensor('float32', data, dims);
  const calls = kCalls[dims.length].map(([call, ...given]) => {
    const { dims: shape, data: values } = tensor[call](...given);
    return { call, given, dims: [...shape], data: Array.from(values) };
  });
  return { type: 'float32', data, dims, list: tensor.tolist(), calls };
});
writeFileSync(new URL('../fixtures/tensor.json', import.meta.url), `${JSON.stringify(goldens)}\n`);
