#!/usr/bin/env node
// The tokenizer in WebAssembly against the JavaScript library of transformers.js, and natively against the Rust library.
//   npm run bench:tokenizer [-- --tokenizers FOLDER --text FILE --python PYTHON --rounds N]
// FOLDER: <name>/tokenizer.json for each tokenizer; by default the demo models'. `make_tokenizer_fixtures.py files` makes real ones. FILE: text,
// encoded line by line; by default the conformance sample. PYTHON has tokenizers==0.22.2; without it, nothing is compared natively. Encoding is
// from a JavaScript string to ids. Loading is from tokenizer.json's bytes, or text for the library, JSON.parse included. Medians of processor time.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from '../../../tools/build.mjs';
import { capture } from '../../../tools/setup/exec.mjs';
import { root } from '../../../tools/setup/root.mjs';
import { installLibrary } from './library.mjs';
import { loadModule } from './module.mjs';

const { values: options } = parseArgs({
  options: {
    tokenizers: { type: 'string' },
    text: { type: 'string' },
    python: { type: 'string' },
    rounds: { type: 'string', default: '7' },
  },
});
const kRounds = Number(options.rounds);

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

function milliseconds(action) {
  const start = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

function tokenizersToMeasure() {
  if (!options.tokenizers) return [['demo models', join(root, 'models/peruse-reader-deberta-tiny/tokenizer.json')]];
  return readdirSync(options.tokenizers)
    .sort()
    .map((name) => [name, join(options.tokenizers, name, 'tokenizer.json')]);
}

function linesToEncode() {
  if (options.text) return readFileSync(options.text, 'utf8').split('\n');
  const cases = readFileSync(join(root, 'tests/fixtures/tokenizer/bert.cases.jsonl'), 'utf8').trim().split('\n');
  return cases.map((line) => JSON.parse(line).case.text ?? '');
}

/** Each action once a round, in turns; the median of each. The first round is for the compilers. */
function inTurns(actions, rounds = kRounds) {
  const times = actions.map(() => []);
  for (let round = 0; round <= rounds; ++round) {
    actions.forEach((action, index) => {
      const time = milliseconds(action);
      if (round > 0) times[index].push(time);
    });
  }
  return times.map(median);
}

function measureLoading(Library, engine, json, text) {
  let library;
  const [ours, theirs] = inTurns([
    () => engine.load(json),
    () => {
      library = new Library(JSON.parse(text), {});
    },
  ]);
  return { library, ours, theirs };
}

/** The time for a text of double length divided by the time for the text: 2 if time is proportional to length. */
function growth(engine, make) {
  const texts = [make(1 << 19), make(1 << 20)];
  const [half, whole] = inTurns(
    texts.map((text) => () => engine.encode(text)),
    3,
  );
  return `${whole.toFixed(0)} ms (${(whole / half).toFixed(2)} x half of it)`;
}

function measureLengths(engine, lines) {
  const prose = lines.join(' ').repeat(Math.ceil((1 << 20) / lines.join(' ').length));
  let seed = 1;
  const letter = () => {
    seed = (seed * 48271) % 2147483647;
    return String.fromCharCode(97 + ((seed >> 8) % 26));
  };
  const word = Array.from({ length: 1 << 20 }, letter).join('');
  console.log(`  1 MB of text ${growth(engine, (n) => prose.slice(0, n))}`);
  console.log(`  1 MB word ${growth(engine, (n) => word.slice(0, n))}`);
  for (const c of ['a', ' ', '.', '中', 'é', '\u0301']) {
    console.log(`  1 M times ${JSON.stringify(c)} ${growth(engine, (n) => c.repeat(n))}`);
  }
}

const Library = await installLibrary();
const engine = await loadModule();
const lines = linesToEncode();
const bytes = Buffer.byteLength(lines.join('\n'));
console.log(`${lines.length} lines, ${(bytes / 1e6).toFixed(2)} MB; Node ${process.version}; ${kRounds} rounds`);
for (const [name, path] of tokenizersToMeasure()) {
  const json = readFileSync(path),
    text = json.toString('utf8');
  engine.unload();
  const before = engine.allocated();
  engine.load(json);
  const held = engine.allocated() - before;
  const { library, ours: load, theirs: libraryLoad } = measureLoading(Library, engine, json, text);
  const [encode, libraryEncode] = inTurns([
    () => lines.map((line) => engine.encode(line)),
    () => lines.map((line) => library.encode(line)),
  ]);
  const same = lines.filter((line) => String(engine.encodeIds(line)) === String(library.encode(line).ids)).length;
  const rate = (time) => `${(bytes / 1e3 / time).toFixed(1)} MB/s`;
  console.log(`${name}:`);
  console.log(`  loads in ${load.toFixed(0)} ms, JavaScript ${libraryLoad.toFixed(0)} ms: ${((load / libraryLoad) * 100).toFixed(0)} %`);
  console.log(`  holds ${(held / 1e6).toFixed(1)} MB`);
  console.log(`  encodes ${rate(encode)}, JavaScript ${rate(libraryEncode)}: ${(libraryEncode / encode).toFixed(1)} times as fast`);
  console.log(`  the JavaScript library gives the same ids for ${((same / lines.length) * 100).toFixed(1)} % of the lines`);
  measureLengths(engine, lines);
  if (options.python) {
    const program = join(buildPreset('native-release', ['encode_bench']), 'encode_bench');
    const file = join(root, 'build/bench-lines.txt');
    writeFileSync(file, lines.join('\n'));
    const script = join(root, 'tests/bench/tokenizer/native.py');
    const { peruse, rust } = JSON.parse(capture(options.python, [script, program, path, file, String(kRounds)]));
    console.log(
      `  natively encodes ${(rust.lines / peruse.lines).toFixed(2)} times as fast as Rust ` +
        `(${rate(peruse.lines * 1e3)} and ${rate(rust.lines * 1e3)}), loads ${(rust.load / peruse.load).toFixed(2)} times as fast`,
    );
  }
}
