// How long a search among many vectors takes, beside embedding the query:
//   node tests/bench/semantic_search.mjs <folder of an embedder> [vectors, 100000] [rounds, 20]
// The two alternate, so that a machine that others use slows both. Medians.
import { pipeline, SemanticIndex } from '../../web/dist/index_node.js';
import { kVectorSearch } from '../../web/dist/tasks/vector_search.js';

const [model, count = '100000', rounds = '20'] = process.argv.slice(2);
const query = 'w1 w20 w300 w4000 w5 w60 w700 w8000 w9 w10'; // ten words, most questions
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
const random = (length) => Float32Array.from({ length }, () => Math.random() - 0.5);

for (const threads of [1, 'auto']) {
  const embed = await pipeline('feature-extraction', model, { worker: false, threads });
  const [{ data }] = [await embed(query, { pooling: 'sentence' })];
  const index = new SemanticIndex(embed, { vectors: random(Number(count) * data.length), similarity: 'dot' });
  await index.search(query);
  const times = { embed: [], search: [] };
  for (let i = 0; i < Number(rounds); ++i) {
    let start = performance.now();
    await embed(query, { pooling: 'sentence' });
    times.embed.push(performance.now() - start);
    start = performance.now();
    await embed[kVectorSearch].nearest({ index: threads === 1 ? 1 : 2, query: data, top_k: 10 });
    times.search.push(performance.now() - start);
  }
  console.log(
    `${embed.info.variant}: embed ${median(times.embed).toFixed(1)} ms, search ${count} x ${data.length}: ${median(times.search).toFixed(1)} ms`,
  );
  await embed.dispose();
}
