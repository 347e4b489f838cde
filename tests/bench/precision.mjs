#!/usr/bin/env node
// What dtype q8 or q4 costs: drift of logits and of task metrics against fp32, as the tables of docs/internals/precision.md.
//   node tests/bench/precision.mjs [--dtype q8] [--data FOLDER | --rows FILE] [--texts 1000] [--questions 500] [--variant simd]
//     [--only random,demo,embedders,tuned] [--tuned FOLDER]
// Random models of base size are made on the fly (in the system's folder for temporary files, up to 740 MB). With --data, the
// folder that tools/train reads its data from, the demo models are also scored on the test halves that trained nothing, and published embedders
// on sentences and intents, if tools/setup/published_models.mjs has installed them. With --rows, a file of precision_rows.py, only the demo
// models are scored, on the parts for choosing. --tuned is the folder that tests/bench/export/tune_minilm.py has written.
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { pipeline } from '../../web/dist/index_node.js';
import { checkpointChunks } from './lib/checkpoint.mjs';
import { entitySentences, snips, some, unpack } from './lib/labelled_sets.mjs';
import { intents, publishedEmbedders, sortByMeans } from './lib/published_embedders.mjs';

const kHere = new URL('./', import.meta.url);
const kSentences = 120;

const { values: options } = parseArgs({
  options: {
    dtype: { type: 'string', default: 'q8' },
    data: { type: 'string' },
    rows: { type: 'string' },
    texts: { type: 'string', default: '1000' },
    questions: { type: 'string', default: '500' },
    variant: { type: 'string', default: 'simd' },
    only: { type: 'string', default: 'random,demo,embedders,tuned' },
    tuned: { type: 'string' },
  },
});

async function inBoth(task, source, use) {
  const results = [];
  for (const dtype of ['fp32', options.dtype]) {
    const run = await pipeline(task, source, { dtype, variant: options.variant, threads: 1 });
    try {
      results.push({ ...(await use(run)), bytes: run.info.weights.weightBytes });
    } finally {
      await run.dispose();
    }
  }
  return results;
}

const kRaw = { top_k: null, function_to_apply: 'none' };
const byLabel = (scores) => [...scores].sort((a, b) => (a.label < b.label ? -1 : 1)).map(({ score }) => score);
const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

/** Differences of logits [[...], ...]: the largest one, and the root mean square divided by that of the logits. */
function drift([exact, rough]) {
  const differences = exact.flatMap((row, i) => row.map((value, k) => rough[i][k] - value));
  const rms = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  const flat = exact.flat();
  const mean = flat.reduce((sum, value) => sum + value, 0) / flat.length;
  return { largest: Math.max(...differences.map(Math.abs)), relative: rms(differences) / rms(flat.map((value) => value - mean)) };
}

function report(name, what, { largest, relative }, metric, [exact, rough]) {
  const memory = `${megabytes(exact.bytes)} -> ${megabytes(rough.bytes)}`;
  console.log(`| ${name} | ${what} | ${largest.toPrecision(2)} | ${(100 * relative).toFixed(1)} % | ${metric} | ${memory} |`);
}

function writeRandomModel(folder, config) {
  const vocab = Object.fromEntries(Array.from({ length: config.vocab_size }, (_, id) => [`t${id}`, id]));
  const tokenizer = {
    version: '1.0',
    added_tokens: [],
    pre_tokenizer: { type: 'WhitespaceSplit' },
    model: { type: 'WordPiece', unk_token: 't0', continuing_subword_prefix: '##', max_input_chars_per_word: 100, vocab },
  };
  const labels = { id2label: { 0: 'A', 1: 'B' }, label2id: { A: 0, B: 1 } };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...labels }));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  const file = openSync(join(folder, 'model.safetensors'), 'w');
  for (const chunk of checkpointChunks(config)) writeSync(file, chunk);
  closeSync(file);
}

async function randomModel(name) {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-precision-'));
  try {
    const config = JSON.parse(readFileSync(new URL(`shapes/${name}.json`, kHere), 'utf8'));
    writeRandomModel(folder, config);
    let state = 1;
    const texts = [16, 32, 64, 64, 128, 128, 256, 384].map((length) =>
      Array.from({ length }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return `t${state % config.vocab_size}`;
      }).join(' '),
    );
    const results = await inBoth('text-classification', folder, async (classify) => {
      const logits = [];
      for (const text of texts) logits.push(byLabel(await classify(text, kRaw)));
      return { logits };
    });
    report(`${name}, random weights`, `${texts.length} random texts`, drift(results.map(({ logits }) => logits)), '-', results);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const demoModel = (name) => fileURLToPath(new URL(`../../models/${name}/`, kHere));

const testOpinions = (set) =>
  unpack(options.data, 'classification', `${set}-test-halfA.tsv.gz`)
    .trim()
    .split('\n')
    .map((line) => {
      const [label, ...text] = line.split('\t');
      return { label: Number(label), text: text.join('\t') };
    });

/** `all` is [{ label: 0 or 1, text }]. */
async function sentiment(set, all) {
  const rows = some(all, Number(options.texts));
  const results = await inBoth('text-classification', demoModel('peruse-sentiment-convbert-tiny'), async (classify) => {
    const logits = (
      await classify(
        rows.map(({ text }) => text),
        { ...kRaw, truncation: true },
      )
    ).map(byLabel); // NEGATIVE, POSITIVE
    const right = logits.filter(([negative, positive], i) => Number(positive > negative) === rows[i].label).length;
    return { logits, accuracy: (100 * right) / rows.length };
  });
  const [exact, rough] = results;
  const flips = exact.logits.filter(([a, b], i) => b > a !== rough.logits[i][1] > rough.logits[i][0]).length;
  const metric = `accuracy ${exact.accuracy.toFixed(2)} -> ${rough.accuracy.toFixed(2)} % (${flips} labels differ)`;
  report('peruse-sentiment-convbert-tiny', `${rows.length} of ${set}`, drift(results.map(({ logits }) => logits)), metric, results);
}

/** The official SQuAD evaluation's normal form. */
const words = (text) =>
  text
    .toLowerCase()
    .replace(/[!-/:-@[-`{-~]/g, '')
    .replace(/\b(a|an|the)\b/g, ' ')
    .split(/\s+/)
    .filter(Boolean);

function f1(predicted, gold) {
  const left = [...gold];
  const same = predicted.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  }).length;
  return same === 0 ? Number(predicted.length + gold.length === 0) : (2 * same) / (predicted.length + gold.length);
}

function squadQuestions() {
  const { data } = JSON.parse(unpack(options.data, 'squad', 'dev-v1.1-halfA.json.gz'));
  return data.flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ context, qas }) =>
      qas.map(({ question, answers }) => ({ question, context, golds: answers.map(({ text }) => text) })),
    ),
  );
}

/** `all` is [{ question, context, golds: texts of its answers }]. */
async function reader(set, all) {
  const rows = some(all, Number(options.questions));
  const results = await inBoth('question-answering', demoModel('peruse-reader-deberta-tiny'), async (answer) => {
    const answers = [];
    for (const { question, context } of rows) answers.push(await answer(question, context));
    const mean = (score) =>
      (100 / rows.length) *
      rows.reduce((sum, { golds }, i) => sum + Math.max(...golds.map((gold) => score(words(answers[i].answer), words(gold)))), 0);
    return { answers, exact: mean((a, b) => Number(a.join(' ') === b.join(' '))), f1: mean(f1) };
  });
  const [exact, rough] = results;
  const same = exact.answers.filter(({ start, end }, i) => start === rough.answers[i].start && end === rough.answers[i].end).length;
  const metric = `exact ${exact.exact.toFixed(2)} -> ${rough.exact.toFixed(2)} %, F1 ${exact.f1.toFixed(2)} -> ${rough.f1.toFixed(2)} % (${rows.length - same} answers differ)`;
  // Readers return no logits, so this compares the scores of the answers.
  const scores = results.map(({ answers }) => answers.map(({ score }) => [score]));
  report('peruse-reader-deberta-tiny', `${rows.length} of ${set} (scores)`, drift(scores), metric, results);
}

function entitiesOf({ words, types, begins }) {
  const found = [];
  let start = 0;
  words.forEach((word, i) => {
    const end = start + word.length;
    if (types[i] && begins[i]) found.push({ type: types[i], start, end });
    else if (types[i]) found.at(-1).end = end;
    start = end + 1;
  });
  return found.map(({ type, start, end }) => `${type} ${start} ${end}`);
}

function labelsOf(words, found) {
  let start = 0;
  return words.map((word) => {
    const at = start;
    start += word.length + 1;
    const inside = found.map((one) => one.split(' ')).find(([, from, to]) => Number(from) <= at && at < Number(to));
    return inside === undefined ? 'O' : `${Number(inside[1]) === at ? 'B' : 'I'}-${inside[0]}`;
  });
}

/** `all` is [{ words, types, begins }], as entitySentences makes them. */
async function tagger(set, all, [name, folder] = ['peruse-tagger-convbert-tiny', demoModel('peruse-tagger-convbert-tiny')]) {
  const rows = some(all, Number(options.texts));
  const results = await inBoth('token-classification', folder, async (tag) => {
    const found = [];
    const scores = [];
    for (const { words: all } of rows) {
      const entities = await tag(all.join(' '), { aggregation_strategy: 'first' });
      const scored = entities.filter(({ entity_group }) => /^(PER|ORG|LOC|MISC)$/.test(entity_group));
      found.push(scored.map(({ entity_group, start, end }) => `${entity_group} ${start} ${end}`));
      scores.push(scored.map(({ score }) => score));
    }
    const gold = rows.map(entitiesOf);
    const right = found.reduce((sum, of, i) => sum + of.filter((one) => gold[i].includes(one)).length, 0);
    return { found, scores, f1: (200 * right) / (found.flat().length + gold.flat().length) };
  });
  const [exact, rough] = results;
  const labels = results.map(({ found }) => found.flatMap((of, i) => labelsOf(rows[i].words, of)));
  const changed = labels[0].filter((label, i) => label !== labels[1][i]).length;
  const same = exact.found.map((of, i) => (of.join() === rough.found[i].join() ? i : -1)).filter((i) => i >= 0);
  const metric = `F1 ${exact.f1.toFixed(2)} -> ${rough.f1.toFixed(2)} % (${changed} of ${labels[0].length} words' labels differ)`;
  // Scores as for the reader, of the sentences in which both found the same entities.
  const scores = results.map((result) => same.map((i) => result.scores[i]));
  report(name, `${rows.length} sentences of ${set} (scores)`, drift(scores), metric, results);
}

/** How many messages lose all their details. `rows` is [{ text, slots: [[first character, one past the last]] }]. */
async function redaction(rows) {
  const results = await inBoth('token-classification', demoModel('peruse-tagger-convbert-tiny'), async (tag) => {
    const leaks = [];
    for (const { text, slots } of rows) {
      const tokens = await tag(text);
      const isHidden = (at) => /\s/.test(text[at]) || tokens.some(({ start, end }) => start <= at && at < end);
      leaks.push(slots.some(([start, end]) => !Array.from({ length: end - start }, (_, i) => start + i).every(isHidden)));
    }
    return { leaks, safe: (100 * leaks.filter((leak) => !leak).length) / rows.length };
  });
  const [exact, rough] = results;
  const changed = exact.leaks.filter((leak, i) => leak !== rough.leaks[i]).length;
  console.log(
    `| peruse-tagger-convbert-tiny | ${rows.length} held-out messages | - | - | without a leak ${exact.safe.toFixed(2)} -> ${rough.safe.toFixed(2)} % (${changed} messages differ) | - |`,
  );
}

/** `all` is [{ text, right: those of `names` that are right }]. */
async function zeroShot(set, { rows: all, names }) {
  const rows = some(all, Number(options.texts));
  const results = await inBoth('zero-shot-classification', demoModel('peruse-zero-shot-deberta-tiny'), async (classify) => {
    const answers = [];
    for (const { text } of rows) answers.push(await classify(text, names));
    const right = answers.filter(({ labels }, i) => rows[i].right.includes(labels[0])).length;
    return { answers, accuracy: (100 * right) / rows.length };
  });
  const [exact, rough] = results;
  const flips = exact.answers.filter(({ labels }, i) => labels[0] !== rough.answers[i].labels[0]).length;
  const metric = `accuracy ${exact.accuracy.toFixed(2)} -> ${rough.accuracy.toFixed(2)} % (${flips} labels differ)`;
  const scores = results.map(({ answers }) => answers.map(({ labels, scores: of }) => names.map((name) => of[labels.indexOf(name)])));
  report('peruse-zero-shot-deberta-tiny', `${rows.length} of ${set} (scores)`, drift(scores), metric, results);
}

/** Sentences of rt-polarity, as unit vectors. */
async function embedder(name, folder) {
  const lines = unpack(options.data, 'classification', 'rt-polarity-test-halfA.tsv.gz').trim().split('\n');
  const texts = some(lines, kSentences).map((line) => line.split('\t').slice(1).join('\t'));
  const results = await inBoth('feature-extraction', folder, async (embed) => {
    const vectors = [];
    for (const text of texts) vectors.push(Array.from((await embed(text, { pooling: 'mean', normalize: true })).data));
    return { vectors };
  });
  const [exact, rough] = results;
  const cosines = exact.vectors.map((vector, i) => vector.reduce((sum, value, k) => sum + value * rough.vectors[i][k], 0));
  const nearest = ({ vectors }) =>
    vectors.map((one, i) => {
      const scores = vectors.map((other, k) => (k === i ? -1 : one.reduce((sum, value, d) => sum + value * other[d], 0)));
      return scores.indexOf(Math.max(...scores));
    });
  const [before, after] = results.map(nearest);
  const moved = before.filter((one, i) => one !== after[i]).length;
  const mean = cosines.reduce((sum, one) => sum + one, 0) / cosines.length;
  const metric = `cosine to fp32: mean ${mean.toFixed(5)}, least ${Math.min(...cosines).toFixed(5)} (${moved} nearest sentences differ)`;
  report(name, `${texts.length} sentences of rt-polarity (vectors)`, drift(results.map(({ vectors }) => vectors)), metric, results);
}

/** Intents, which the nearest mean of ten examples decides. */
async function intentsBy(name, folder, set) {
  const { examples, texts } = intents(options.data, set);
  const chosen = { examples, texts: some(texts, Number(options.texts)) };
  const results = await inBoth('feature-extraction', folder, (embed) =>
    sortByMeans(async (all) => {
      const vectors = [];
      for (const text of all) vectors.push(Array.from((await embed(text, { pooling: 'mean', normalize: true })).data));
      return vectors;
    }, chosen),
  );
  const [exact, rough] = results;
  const percent = ({ right }) => ((100 * right) / chosen.texts.length).toFixed(2);
  const changed = exact.labels.filter((label, i) => label !== rough.labels[i]).length;
  const metric = `accuracy ${percent(exact)} -> ${percent(rough)} % (${changed} labels differ)`;
  const over = `${chosen.texts.length} of ${set} (similarities)`;
  report(name, over, drift(results.map(({ similarities }) => similarities)), metric, results);
}

/** A fine-tuned classifier. `all` is [text, label][]. */
async function classifier(name, set, all) {
  const rows = some(all, Number(options.texts));
  const results = await inBoth('text-classification', join(options.tuned, set), async (classify) => {
    const answers = await classify(
      rows.map(([text]) => text),
      { ...kRaw, truncation: true },
    );
    const labels = answers.map((scores) => scores.reduce((a, b) => (b.score > a.score ? b : a)).label);
    return { logits: answers.map(byLabel), labels, right: labels.filter((label, i) => label === rows[i][1]).length };
  });
  const [exact, rough] = results;
  const percent = ({ right }) => ((100 * right) / rows.length).toFixed(2);
  const changed = exact.labels.filter((label, i) => label !== rough.labels[i]).length;
  const metric = `accuracy ${percent(exact)} -> ${percent(rough)} % (${changed} labels differ)`;
  report(name, `${rows.length} of ${set}`, drift(results.map(({ logits }) => logits)), metric, results);
}

const has = (part) => options.only.split(',').includes(part);
console.log(
  `| model | over | largest drift of a logit | rms drift / spread | metric, fp32 -> ${options.dtype} | weights, MB |\n|---|---|---|---|---|---|`,
);
if (options.rows !== undefined) {
  const rows = JSON.parse(readFileSync(options.rows, 'utf8'));
  for (const [set, all] of Object.entries(rows.sentiment)) await sentiment(set, all);
  await reader('the questions for choosing', rows.reader);
  for (const [set, all] of Object.entries(rows.tagger)) await tagger(set, all);
  await redaction(rows.messages);
  for (const [set, all] of Object.entries(rows['zero-shot'])) await zeroShot(set, all);
} else if (has('random')) {
  for (const name of ['deberta_v3_base', 'convbert_base']) await randomModel(name);
}
if (options.data !== undefined && has('demo')) {
  for (const set of ['rt-polarity', 'pros-cons']) await sentiment(set, testOpinions(set));
  await reader('SQuAD 1.1 dev, half A', squadQuestions());
  for (const set of ['wikigold', 'wnut17']) await tagger(set, entitySentences(options.data, set));
  const { rows, names } = snips(options.data);
  await zeroShot('Snips', { rows: rows.map(({ text, name }) => ({ text, right: [name] })), names });
}
if (options.data !== undefined && has('embedders')) {
  const temporary = mkdtempSync(join(tmpdir(), 'peruse-embedders-'));
  try {
    for (const [name, folder] of Object.entries(await publishedEmbedders(temporary))) {
      await embedder(name, folder);
      for (const set of ['banking77', 'clinc150']) await intentsBy(name, folder, set);
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
}
if (options.data !== undefined && options.tuned !== undefined && has('tuned')) {
  const name = 'all-MiniLM-L6-v2, fine-tuned';
  const tuned = (set) => existsSync(join(options.tuned, set)); // tune_minilm.py writes those that it is asked for
  for (const set of ['banking77', 'clinc150'].filter(tuned)) await classifier(name, set, intents(options.data, set).texts);
  if (tuned('rt-polarity')) {
    const opinions = testOpinions('rt-polarity').map(({ label, text }) => [text, String(label)]);
    await classifier(name, 'rt-polarity', opinions);
  }
  if (tuned('entities')) {
    for (const set of ['wikigold', 'wnut17'])
      await tagger(set, entitySentences(options.data, set), [name, join(options.tuned, 'entities')]);
  }
}
