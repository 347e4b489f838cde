#!/usr/bin/env node
// How often a precision changes the nearest neighbour of a text, which is what a user of a search sees. docs/precision.md has the figures.
//   node tests/bench/neighbours.mjs <folder or id of an embedder> [--texts FILE] [--count 500] [--dtypes q8,q4] [--variant simd]
// FILE has one text in each line. Default: the sentences written by hand for measuring the demo models (models/everyday*), of all their languages, and
// sentences of docs/. Prints for each precision: texts whose nearest neighbour differs from that of fp32, texts whose five nearest ones have
// other members, and for the former how much less near (cosine, in fp32) the new neighbour is: the median and the largest loss.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pipeline } from '../../web/dist/index_node.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kFew = 5;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    texts: { type: 'string' },
    count: { type: 'string', default: '500' },
    dtypes: { type: 'string', default: 'q8,q4' },
    variant: { type: 'string', default: 'simd' },
  },
});
const [model] = positionals;
if (model === undefined) throw new Error('Name an embedder.');

const linesOf = (path) => readFileSync(path, 'utf8').split('\n');

/** Texts without the marks of their files: placeholders of names, labels, comments. */
function ownSentences() {
  const plain = (line) => line.replaceAll('{}', 'Anna').replaceAll(/[{}]/g, '');
  const messages = linesOf(`${kRoot}models/everyday_messages.txt`).flatMap((line) => (line.startsWith('> ') ? [line.slice(2)] : []));
  const multilingual = linesOf(`${kRoot}models/everyday_multilingual.txt`).filter((line) => !/^[#=]/.test(line));
  const remarks = linesOf(`${kRoot}models/everyday_remarks.tsv`).flatMap((line) => line.split('\t')[1] ?? []);
  const docs = readdirSync(`${kRoot}docs`, { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((name) => linesOf(`${kRoot}docs/${name}`).flatMap((line) => (/^[A-Z][^|`[<]{60,140}\.$/.test(line) ? [line] : [])));
  return [...messages, ...multilingual.map((line) => line.replace(/^- /, '')), ...remarks, ...docs].map(plain);
}

const all = options.texts === undefined ? ownSentences() : linesOf(options.texts);
const texts = [...new Set(all.map((text) => text.trim()).filter((text) => text !== ''))];
const count = Math.min(Number(options.count), texts.length);
const chosen = Array.from({ length: count }, (_, index) => texts[Math.floor((index * texts.length) / count)]);

async function vectors(dtype) {
  const embed = await pipeline('feature-extraction', model, { dtype, variant: options.variant });
  try {
    const { data, dims } = await embed(chosen, { pooling: 'sentence', normalize: true, truncation: true });
    return Array.from({ length: dims[0] }, (_, row) => data.subarray(row * dims[1], (row + 1) * dims[1]));
  } finally {
    await embed.dispose();
  }
}

const cosine = (a, b) => a.reduce((sum, value, index) => sum + value * b[index], 0);

/** The numbers of the other texts for each text, nearest first. */
function neighboursOf(rows) {
  return rows.map((row, own) => {
    const near = rows.map((other, index) => ({ index, score: cosine(row, other) })).filter(({ index }) => index !== own);
    return near.sort((a, b) => b.score - a.score).map(({ index }) => index);
  });
}

const exactRows = await vectors('fp32');
const exact = neighboursOf(exactRows);
console.log(`${count} texts`);
for (const dtype of options.dtypes.split(',')) {
  const found = neighboursOf(await vectors(dtype));
  const changed = found.flatMap(([first], text) => (first === exact[text][0] ? [] : [text]));
  const others = found.filter((near, text) => {
    const before = new Set(exact[text].slice(0, kFew));
    return near.slice(0, kFew).some((index) => !before.has(index));
  });
  const losses = changed
    .map((text) => cosine(exactRows[text], exactRows[exact[text][0]]) - cosine(exactRows[text], exactRows[found[text][0]]))
    .sort((a, b) => a - b);
  const [middle = 0, largest = 0] = [losses[losses.length >> 1], losses.at(-1)];
  console.log(
    `${dtype}: nearest neighbour ${changed.length} (one in ${(count / changed.length).toFixed(1)}), five nearest ${others.length}; ` +
      `loss of cosine ${middle.toFixed(4)}, at most ${largest.toFixed(4)}`,
  );
}
