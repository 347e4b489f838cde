import { pipeline } from '../../../web/dist/index_node.js';
import { onnxModels, tinyModels, tokenizerFiles } from '../lib/models.mjs';
import { mutate } from '../lib/mutate.mjs';
import { Finding, outcome } from '../lib/outcome.mjs';
import { measureOwnTime } from '../lib/own_time.mjs';

const kSlow = 20_000; // milliseconds of own time, for files of a few KB

export async function run({ random, timeLeft, begin, count }) {
  const models = [...tinyModels(), ...onnxModels()];
  const tokenizers = tokenizerFiles();
  for (let i = 0; timeLeft(); ++i) {
    const model = random.pick(models);
    const files = { ...model.files };
    const name = random.chance(0.4) ? useTokenizer(files, random.pick(tokenizers)) : random.pick(Object.keys(files));
    files[name] = mutate(name, files[name], random);
    if (random.chance(0.1)) splitIndex(files, random);
    begin(`case ${i}: ${name} of ${model.name}`);
    const ownTime = measureOwnTime();
    const code = await outcome(loadAndCall(model, files));
    const took = ownTime();
    if (took > kSlow) throw new Finding(`it took ${(took / 1000).toFixed(0)} s`);
    count('cases');
    count(code === 'ok' ? 'that load' : code);
  }
}

async function loadAndCall({ task, call }, files) {
  const pipe = await pipeline(task, files, { variant: 'simd' });
  try {
    return await call(pipe, {});
  } finally {
    await pipe.dispose();
  }
}

function useTokenizer(files, { name, bytes }) {
  const kind = /(tokenizer\.json|vocab\.txt|spm\.model|vocab\.json|merges\.txt)$/.exec(name)[0];
  if (kind !== 'tokenizer.json') delete files['tokenizer.json'];
  if (kind === 'merges.txt') files['vocab.json'] = new TextEncoder().encode('{"t1":0,"t":1,"1":2,"[UNK]":3}');
  if (kind === 'vocab.json') files['merges.txt'] = new TextEncoder().encode('#version: 0.2\nt 1\n');
  files[kind] = bytes;
  return kind;
}

function splitIndex(files, random) {
  const names = ['model-00001-of-00002.safetensors', '../x.safetensors', 'x', '', 'model.safetensors', '/etc/passwd', 'a\u0000b'];
  const map = Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`tensor.${i}`, random.pick(names)]));
  files['model.safetensors.index.json'] = new TextEncoder().encode(JSON.stringify({ metadata: { total_size: 1e300 }, weight_map: map }));
  files['model-00001-of-00002.safetensors'] = files['model.safetensors'];
  delete files['model.safetensors'];
}
