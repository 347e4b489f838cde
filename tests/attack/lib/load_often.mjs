// Loads, calls and disposes repeatedly: node --expose-gc load_often.mjs <load options as JSON> <times>. Every second load fails. Prints the
// levels of memory as JSON.
import { pipeline } from '../../../web/dist/index_node.js';
import { Levels, residentBytes } from './memory.mjs';
import { kRoot } from './models.mjs';

const options = JSON.parse(process.argv[2]);
const times = Number(process.argv[3]);

const levels = new Levels();
for (let i = 1; i <= times; ++i) {
  const task = i % 2 ? 'text-classification' : 'question-answering';
  const pipe = await pipeline(task, `${kRoot}models/peruse-sentiment-convbert-tiny`, options).catch((error) => {
    if (error.code !== 'missing_head' && error.code !== 'missing_tensor') throw error;
  });
  await pipe?.('A gem of a film.');
  await pipe?.dispose();
  levels.add(i <= 15 || i > times - 10 ? await residentBytes() : 0); // rounds in between are not reported
}
const { first, end, rose } = levels;
console.log(JSON.stringify({ first, end, rose, text: String(levels) }));
