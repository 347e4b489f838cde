#!/usr/bin/env node
// The table of entities in docs/internals/training.md: what teach('token-classification') with its default options finds after a few sentences. Needs
// `npm run build`.
//   node tests/bench/few_shot/entities.mjs --data FOLDER --base FOLDER --results FILE [--name NAME] [--sets a,b] [--counts 20,50,200]
//     [--draws 3] [--tests 300]
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { teach } from '../../../web/dist/teach/index_node.js';
import { shuffled } from './sets.mjs';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    base: { type: 'string' },
    name: { type: 'string' },
    results: { type: 'string' },
    sets: { type: 'string', default: 'restaurant8k,wikigold,wnut17,btc' },
    counts: { type: 'string', default: '20,50,200' },
    draws: { type: 'string', default: '3' },
    tests: { type: 'string', default: '300' },
  },
});

const unpack = (name) => gunzipSync(readFileSync(join(options.data, name))).toString();

/** Sentences of `token tag` lines: texts with spaces between tokens. Tags are BIO, or IO, where neighbours of one kind are one entity. */
function conll(name) {
  return unpack(name)
    .split(/\n\s*\n/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const entities = [];
      let text = '';
      let open; // The entity that the last token belongs to.
      for (const line of block.trim().split('\n')) {
        const [token, tag] = line.split(/[\t ]/);
        if (tag === undefined) continue; // A few lines of BTC are a tag without a token.
        const start = text === '' ? 0 : text.length + 1;
        text = text === '' ? token : `${text} ${token}`;
        const label = tag.replace(/^[BI]-/, '');
        if (tag === 'O') open = undefined;
        else if (open?.label === label && !tag.startsWith('B-')) open.end = text.length;
        else {
          open = { start, end: text.length, label };
          entities.push(open);
        }
      }
      return { text, entities };
    });
}

function restaurant(name) {
  return JSON.parse(unpack(name)).map(({ userInput, labels }) => ({
    text: userInput.text,
    entities: (labels ?? []).map(({ slot, valueSpan: { startIndex = 0, endIndex } }) => ({
      start: startIndex,
      end: endIndex,
      label: slot,
    })),
  }));
}

function load(set, part) {
  const file = part === 'test' ? 'test-halfA' : 'train';
  return set === 'restaurant8k' ? restaurant(`${set}-${file}.json.gz`) : conll(`${set}-${file}.conll.gz`);
}

function apart({ text, entities }) {
  const order = [...entities].sort((a, b) => a.start - b.start);
  return order.every(({ start }, index) => index === 0 || /\s/.test(text.slice(order[index - 1].end, start)));
}

function draw(train, count, seed) {
  const order = shuffled(train, seed).filter(apart);
  const some = order.filter(({ entities }) => entities.length > 0).slice(0, Math.ceil(0.75 * count));
  const none = order.filter(({ entities }) => entities.length === 0).slice(0, count - some.length);
  return shuffled([...some, ...none], seed + 1000);
}

function f1Of(tests, answers) {
  let found = 0;
  let right = 0;
  let all = 0;
  for (const [index, { entities }] of tests.entries()) {
    const keys = new Set(entities.map(({ start, end, label }) => `${start} ${end} ${label}`));
    all += keys.size;
    found += answers[index].length;
    right += answers[index].filter(({ start, end, entity_group: label }) => keys.has(`${start} ${end} ${label}`)).length;
  }
  return right === 0 ? 0 : (2 * right) / (found + all);
}

for (let seed = 1; seed <= Number(options.draws); ++seed) {
  for (const set of options.sets.split(',')) {
    const train = load(set, 'train');
    const tests = shuffled(load(set, 'test'), 1).slice(0, Number(options.tests));
    for (const count of options.counts.split(',').map(Number)) {
      const start = performance.now();
      const taught = await teach('token-classification', options.base, draw(train, count, seed), { seed, max_length: 128 });
      const seconds = (performance.now() - start) / 1e3;
      const tag = await taught.pipeline();
      const answers = await tag(
        tests.map(({ text }) => text),
        { aggregation_strategy: 'first' },
      );
      await Promise.all([tag.dispose(), taught.dispose()]);
      const line = { base: options.name ?? basename(options.base), set, count, seed, f1: f1Of(tests, answers), seconds };
      appendFileSync(options.results, `${JSON.stringify(line)}\n`);
    }
  }
}
