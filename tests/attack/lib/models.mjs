// The attacked models: the tests' tiny ones, each with a task and a call.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kTiny = join(kRoot, 'tests/fixtures/tiny');
const kOnnx = join(kRoot, 'tests/fixtures/onnx');
const kText = 't1 t2 t3 t4';

const kTasks = {
  sequence: ['text-classification', (pipe, options) => pipe(kText, options)],
  token: ['token-classification', (pipe, options) => pipe(kText, options)],
  question: ['question-answering', (pipe, options) => pipe('t1 t2', kText, options)],
  'masked-lm': ['feature-extraction', (pipe, options) => pipe(kText, options)],
  choice: ['multiple-choice', (pipe, options) => pipe('t1', ['t2', 't3'], options)],
  bare: ['feature-extraction', (pipe, options) => pipe(kText, options)],
};

const endOf = (name) => Object.keys(kTasks).find((one) => name.endsWith(`-${one}`));

export function tinyModels() {
  return readdirSync(kTiny)
    .filter((name) => endOf(name) !== undefined)
    .map(tinyModel);
}

/** The toy tokenizer lacks the special tokens that the class of a Gemma's tokenizer would add. */
const kTokenizerConfig = new TextEncoder().encode('{ "tokenizer_class": "PreTrainedTokenizerFast" }');

function tinyModel(name) {
  const [task, call] = kTasks[endOf(name) ?? 'sequence'];
  const read = (file) => new Uint8Array(readFileSync(join(kTiny, name, file)));
  const config = read('config.json');
  const tokenizer = tinyTokenizer(JSON.parse(new TextDecoder().decode(config)).vocab_size);
  return {
    name,
    task,
    call,
    files: {
      'config.json': config,
      'tokenizer.json': tokenizer,
      ...(name.startsWith('gemma') && { 'tokenizer_config.json': kTokenizerConfig }),
      'model.safetensors': read('model.safetensors'),
    },
  };
}

export function onnxModels() {
  const folders = readdirSync(kOnnx, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const { files, ...rest } = tinyModel(name);
    const { 'model.safetensors': _, ...beside } = files;
    const names = readdirSync(join(kOnnx, name)).filter((one) => one.endsWith('.onnx') && one !== 'external.onnx');
    return names.map((one) => {
      const as = `onnx/model${/quant|int8/.test(one) ? '_quantized' : ''}.onnx`;
      return { ...rest, name: `${name} ${one}`, files: { ...beside, [as]: new Uint8Array(readFileSync(join(kOnnx, name, one))) } };
    });
  });
}

function tinyTokenizer(size) {
  const vocab = Object.fromEntries(Array.from({ length: size }, (_, id) => [`t${id}`, id]));
  const model = { type: 'WordPiece', unk_token: 't0', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab };
  const rest = { truncation: null, padding: null, added_tokens: [], normalizer: null, post_processor: null, decoder: null };
  return new TextEncoder().encode(JSON.stringify({ version: '1.0', ...rest, pre_tokenizer: { type: 'WhitespaceSplit' }, model }));
}

export function tokenizerFiles() {
  const folder = join(kRoot, 'tests/fixtures/tokenizer');
  const found = [];
  const visit = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const at = join(path, entry.name);
      if (entry.isDirectory()) visit(at);
      else if (/(tokenizer\.json|vocab\.txt|spm\.model|vocab\.json|merges\.txt)$/.test(entry.name)) {
        const bytes = new Uint8Array(readFileSync(at));
        if (bytes.length < 3_000_000) found.push({ path: at.slice(folder.length + 1), name: entry.name, folder: path, bytes });
      }
    }
  };
  visit(folder);
  return found;
}
