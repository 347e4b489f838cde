// Time of a search by the engine, next to one pass over the rows' memory and to plain TypeScript over one Float32Array:
//   node tests/bench/semantic_search.mjs <folder of an embedder> [rounds, 20] [rows, 10000,100000,1000000]
// The ways alternate, so that other programs on the machine slow all of them. Prints medians in milliseconds. Rows have 384 numbers.
import { readFileSync } from 'node:fs';
import { pipeline } from '../../web/dist/index_node.js';
import { Rows } from '../../web/dist/search/rows.js';
import { kVectorSearch } from '../../web/dist/tasks/vector_search.js';

const kWidth = 384;
const [model, rounds = '20', counts = '10000,100000,1000000'] = process.argv.slice(2);
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];

/** A pass in WebAssembly: adds up all numbers with SIMD, four registers at a time. Memory bounds it. */
const pass = (() => {
  const code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const section = (id, ...bytes) => [id, bytes.length, ...bytes];
  const add = (offset) => [0x20, 2, 0x20, 0, 0xfd, 0x00, 4, offset, 0xfd, 0xe4, 0x01, 0x21, 2]; // sum = f32x4.add(sum, load(at + offset))
  const loop = [
    0x03,
    0x40,
    ...add(0),
    ...add(16),
    ...add(32),
    ...add(48),
    0x20,
    0,
    0x41,
    0xc0,
    0x00,
    0x6a,
    0x22,
    0,
    0x20,
    1,
    0x49,
    0x0d,
    0,
    0x0b,
  ];
  const body = [1, 1, 0x7b, ...loop, 0x20, 2, 0xfd, 0x1f, 0, 0x0b];
  code.push(...section(1, 1, 0x60, 2, 0x7f, 0x7f, 1, 0x7d), ...section(2, 1, 1, 0x61, 1, 0x6d, 2, 0, 1), ...section(3, 1, 0));
  code.push(...section(7, 1, 1, 0x66, 0, 0), ...section(10, 1, body.length, ...body));
  const module = new WebAssembly.Module(new Uint8Array(code));
  return (bytes) => {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / 65536) + 1 });
    new Float32Array(memory.buffer).fill(0.5);
    const { f } = new WebAssembly.Instance(module, { a: { m: memory } }).exports;
    return () => f(0, bytes);
  };
})();

function random(length) {
  const values = new Float32Array(length);
  let seed = 1;
  for (let i = 0; i < length; ++i) {
    seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    values[i] = seed / 2 ** 32;
  }
  return values;
}

console.log(readFileSync('/proc/cpuinfo', 'utf8').match(/model name\s*: (.*)/)?.[1]);
for (const count of counts.split(',').map(Number)) {
  const embed = await pipeline('feature-extraction', model, { worker: false, threads: 1 });
  const query = random(kWidth);
  const rows = new Rows(kWidth, 'float32');
  rows.reserveFor(count);
  const data = random(count * kWidth);
  for (let at = 0; at < data.length; at += kWidth) rows.append(data.subarray(at, at + kWidth));
  await embed[kVectorSearch].set({ index: 1, width: kWidth, data });
  const onePass = pass(data.byteLength);
  const ways = {
    'one pass': async () => onePass(),
    engine: () => embed[kVectorSearch].nearest({ index: 1, query, top_k: 10 }),
    TypeScript: async () => rows.nearest(query, 10, 0, () => true),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let i = 0; i < Number(rounds); ++i) {
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now();
      await way();
      times[name].push(performance.now() - start);
    }
  }
  const medians = Object.entries(times).map(([name, list]) => `${name} ${median(list).toFixed(1)} (best ${list[0].toFixed(1)})`);
  console.log(`${count} rows, ${embed.info.variant}: ${medians.join(', ')}`);
  await embed.dispose();
}
