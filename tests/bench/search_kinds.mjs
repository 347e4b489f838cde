// Size and time of SemanticIndex with each kind of vectors, without the time of the model:
//   node tests/bench/search_kinds.mjs [chunks, 10000] [searches, 20]
// Vectors are random, of the usual sizes: dense 384 numbers; sparse 120 of 30,522 weights (24 in a query); late interaction 128 rows of 128
// numbers (32 in a query). Texts have 60 words of a vocabulary of 20,000, query 4; words and weights have the frequencies of Zipf's law. Prints a
// row of the table of docs/semantic-index.md for each kind: the file of save(), the memory of JavaScript, and the median processor time of a
// search, without and with keywords. The first search, which sends the vectors to the engine and counts the words, is not counted.
import { fileURLToPath } from 'node:url';
import { pipeline, SemanticIndex, Tensor } from '../../web/dist/index_node.js';
import { Keywords } from '../../web/dist/search/keywords.js';
import { median } from './lib/statistics.mjs';

const kEmbedder = fileURLToPath(new URL('../fixtures/sentence/mean', import.meta.url));
const [chunks = 10_000, searches = 20] = process.argv.slice(2).map(Number);
const kVocabulary = 30_522;
const kWords = 20_000;

let seed = 1;
function uniform() {
  seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
  return (seed >>> 0) / 2 ** 32;
}
/** A number below `count`, of which the first are frequent (Zipf's law). */
const zipf = (count) => Math.floor(count ** uniform()) - 1;
const numbers = (length) => Float32Array.from({ length }, () => uniform() - 0.5);
const sentence = (words) => Array.from({ length: words }, () => `w${zipf(kWords)}`).join(' ');

function sparse(terms) {
  const indices = new Set();
  while (indices.size < terms) indices.add(zipf(kVocabulary));
  const values = Float32Array.from(indices, () => uniform() * 2 + 0.01).sort((a, b) => b - a);
  return { indices: Uint32Array.from(indices), values, tokens: Array.from(indices, (id) => `t${id}`) };
}

const kKinds = {
  dense: { pooling: 'mean', make: () => new Tensor('float32', numbers(384), [1, 384]) },
  "dense, `storage: 'int8'`": { pooling: 'mean', storage: 'int8', make: () => new Tensor('float32', numbers(384), [1, 384]) },
  "sparse (`'splade'`)": { pooling: 'splade', make: (isQuery) => sparse(isQuery ? 24 : 120) },
  "late interaction (`'multi_vector'`)": {
    pooling: 'multi_vector',
    make: (isQuery) => {
      const rows = isQuery ? 32 : 128;
      const tensor = new Tensor('float32', numbers(rows * 128), [rows, 128]);
      return tensor;
    },
  },
};

/** A pipeline whose vectors are random, but which searches with a real engine. */
function standIn(embed, make) {
  const call = async (texts) => {
    const isQuery = typeof texts === 'string' || texts.length === 1;
    const made = [texts].flat().map(() => make(isQuery));
    if (!(made[0] instanceof Tensor) || made[0].dims[0] > 1) return typeof texts === 'string' ? made[0] : made;
    const width = made[0].dims[1];
    const data = new Float32Array(made.length * width);
    for (const [i, { data: row }] of made.entries()) data.set(row, i * width);
    return new Tensor('float32', data, [made.length, width]);
  };
  return new Proxy(call, { get: (target, name) => (name in embed ? Reflect.get(embed, name, embed) : Reflect.get(target, name)) });
}

/** The processor time of this process. */
async function timed(work) {
  const start = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(start);
  return { result, ms: (user + system) / 1000 };
}
const shown = (times) => median(times).toFixed(1);
const mb = (bytes) => (bytes / 1e6).toFixed(1);
const used = () => {
  globalThis.gc?.();
  return process.memoryUsage();
};

console.log('| kind | file, MB | memory, MB | search, ms | with `keywords`, ms |\n|---|---|---|---|---|');
for (const [name, { pooling, storage, make }] of Object.entries(kKinds)) {
  const embed = await pipeline('feature-extraction', kEmbedder, { worker: false, threads: 1, variant: 'simd' });
  const before = used();
  const index = new SemanticIndex(standIn(embed, make), storage === undefined ? {} : { storage });
  for (let at = 0; at < chunks; at += 1000) {
    await index.add(
      Array.from({ length: Math.min(1000, chunks - at) }, () => sentence(60)),
      { pooling },
    );
  }
  const plain = [];
  const fused = [];
  await index.search(sentence(4));
  await index.search(sentence(4), { keywords: true });
  for (let i = 0; i < searches; ++i) {
    plain.push((await timed(() => index.search(sentence(4)))).ms);
    fused.push((await timed(() => index.search(sentence(4), { keywords: true }))).ms);
  }
  const after = used();
  const memory = after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers;
  const file = await index.save();
  console.log(`| ${name} | ${mb(file.size)} | ${mb(memory)} | ${shown(plain)} | ${shown(fused)} |`);
  await embed.dispose();
}

const words = new Keywords();
for (let row = 0; row < chunks; ++row) words.add(row, sentence(60));
const times = [];
for (let i = 0; i < searches; ++i) times.push((await timed(async () => words.search(sentence(4), 100, () => true))).ms);
console.log(`| keywords alone (BM25) | | | ${shown(times)} | |`);
