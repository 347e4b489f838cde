// Writes tests/fixtures/tensor.json and tensor_methods.json: results of transformers.js's Tensor, and of its functions on tensors. Run it where @huggingface/transformers 4.3.1 is installed:
//   node tests/reference/make_tensor_goldens.mjs <folder with node_modules>
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${pathToFileURL(process.argv[2]).href}/`);
const library = await import(pathToFileURL(require.resolve('@huggingface/transformers').replace(/\.cjs$/, '.mjs')).href);

const { Tensor } = library;
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

/** Methods that peruse/transformers adds. */
const kMethods = [
  ['clone'],
  ['mul', 3],
  ['div', 4],
  ['add', 1.5],
  ['sub', 2],
  ['remainder', 2],
  ['remainder', -2],
  ['neg'],
  ['round'],
  ['clamp', -1, 1],
  ['gt', 0],
  ['lt', 0],
  ['permute', 1, 0, 2],
  ['transpose', 2, 0, 1],
  ['view', 4, -1],
  ['flatten'],
  ['flatten', 1],
  ['unsqueeze', 1],
  ['unsqueeze', -1],
  ['repeat', 2, 1, 1, 2],
  ['tile', 2],
  ['to', 'float64'],
  ['sum'],
  ['sum', 1],
  ['sum', -1, true],
  ['norm', 2, 0],
  ['max'],
  ['max', 1],
  ['min', 2, true],
  ['argmax'],
  ['argmin'],
  ['add_', 1.5],
  ['clamp_', 0, 1],
  ['normalize_', 2, -1],
  ['flatten_'],
  ['unsqueeze_', 0],
];
const kFunctions = [
  ['cat', 0],
  ['cat', 1],
  ['stack', 0],
  ['stack', -1],
  ['topk', 2],
  ['topk', null],
  ['slice', [0, 1], [2, 3], [0, 2]],
  ['permute', [2, 1, 0]],
  ['mean', 1, true],
  ['std_mean', 2],
  ['std_mean', null, 0],
];
const make = (type, dims) => new Tensor(type, numbers(dims.reduce((product, dim) => product * dim)), dims);
const plain = ({ type, dims, data }) => ({ type, dims: [...dims], data: Array.from(data, Number) });
const kDims = [2, 3, 4];
const methods = kMethods.map(([call, ...given]) => ({ call, given, result: plain(make('float32', kDims)[call](...given)) }));
const functions = [];
for (const [call, ...given] of kFunctions) {
  const tensor = make('float32', kDims);
  const joined = [tensor, tensor.mul(2)];
  const found = await library[call](call === 'cat' || call === 'stack' ? joined : tensor, ...given);
  functions.push({ call, given, results: [found].flat().map(plain) });
}
for (const precision of ['binary', 'ubinary']) {
  functions.push({
    call: 'quantize_embeddings',
    given: [precision],
    dims: [3, 16],
    results: [plain(library.quantize_embeddings(make('float32', [3, 16]), precision))],
  });
}
const ids = new Tensor('int64', [3n, 1n, 2n, 0n], [2, 2]);
const whole = [['sum'], ['sum', 0], ['add', 5n], ['max'], ['to', 'float32'], ['squeeze']].map(([call, ...given]) => ({
  call,
  given: given.map((one) => (typeof one === 'bigint' ? `${one}n` : one)),
  result: plain(ids[call](...given)),
}));
const extras = { dims: kDims, data: numbers(24), methods, functions, whole };
writeFileSync(new URL('../fixtures/tensor_methods.json', import.meta.url), `${JSON.stringify(extras)}\n`);
writeFileSync(new URL('../fixtures/tensor.json', import.meta.url), `${JSON.stringify(goldens)}\n`);
