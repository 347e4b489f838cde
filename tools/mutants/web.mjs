// Mutants of web/src: an own mutator instead of Stryker, which would add 120 packages. All changes are compiled at once into the tree of
// `npm run dev`, and the variable PERUSE_MUTANT turns one on, so that one compilation is enough. Each test file runs once without mutants, which
// records the places that it reaches (hits.mjs).
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { testsNamed } from '../dev/needed_builds.mjs';
import { compile, forget, isSource, linkEngines, writeTree } from '../dev/tree.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { kVariants } from '../variants.mjs';
import { chosen } from './choose.mjs';
import { isNotEquivalent } from './equivalent.mjs';
import { hitsOf } from './hits.mjs';
import { succeeds } from './limited.mjs';
import { hash, keyOf, Memory, tryAll, withoutNested } from './memory.mjs';
import { placesIn } from './places.mjs';

const kSources = join(root, 'web/src');
const kScratch = join(root, 'build/mutants/hits');
/** Milliseconds. Processor time ends tests, not the clock (limited.mjs). */
const kLongest = '1200000';
/** A process that computes for longer than kStart seconds and kSlower times its usual time does not end. */
const kStart = 60;
const kSlower = 4;
/** Test files that run together: the first are those that most probably notice the mutant. */
const kFirst = 3;
const kTogether = 24;

/** These measure time, which depends on what else the machine does, or compare files that `npm run dev` does not build. */
const kNotUsed =
  /\/(linear_time|event_loop|dispose_memory|memory|load_memory|idle_worker|dev_loop|docs_run|package_types|mutants)\.test\.ts$/;

/** Whether mutant `n` is on. Appended to each changed file; also records that the place was reached. */
const kSwitch = `
function __mutant(n) {
  const { PERUSE_MUTANT: on, PERUSE_MUTANT_HITS_FILE: hits } = globalThis.process?.env ?? {};
  const seen = (globalThis.__mutantsSeen ??= new Set());
  if (hits && !seen.has(n)) {
    seen.add(n);
    try { globalThis.process.getBuiltinModule('node:fs').appendFileSync(hits, n + '\\n'); } catch {}
  }
  return on === String(n);
}
`;

function allPlaces() {
  const files = readdirSync(kSources, { recursive: true })
    .map((name) => join(kSources, name))
    .filter((file) => isSource(file) && !/_(browser|bundle)\.ts$|\/(gpu|inline)\//.test(file)); // tests/node does not run these
  return files.flatMap((file) => placesIn(readFileSync(file, 'utf8'), file).map((place) => ({ ...place, file: relative(root, file) })));
}

/** Compiles the files with their mutants. Nested places would need each other's texts, so inner ones are left out. */
function compileMutants(mutants) {
  for (const file of new Set(mutants.map((one) => one.file))) {
    let text = readFileSync(join(root, file), 'utf8');
    const own = mutants.filter((one) => one.file === file);
    for (const { number, start, end, mutated } of own.sort((a, b) => b.start - a.start)) {
      text = text.slice(0, start) + mutated(`__mutant(${number})`) + text.slice(end);
    }
    compile(join(root, file), text + kSwitch);
  }
}

/** Runs test files until one fails. Returns { passed, failed }: whether all passed, and the files known to have failed. `name` is of this run. */
async function runTests(name, files, env, seconds, more = []) {
  const file = join(kScratch, `${name}.json`);
  rmSync(file, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/dev/vitest.config.ts'];
  const report = ['--reporter', 'json', '--outputFile', file, '--testTimeout', kLongest, '--hookTimeout', kLongest];
  const passed = await succeeds(process.execPath, [...vitest, ...report, ...more, ...files], { env, seconds });
  const results = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : [];
  return { passed, failed: results.filter(({ status }) => status !== 'passed').map(({ name }) => relative(root, name)) };
}

const inGroups = (list, size) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/** Runs the test files of which is not known which `open` mutants they reach. Stores that, and the processor time of each file. */
async function findTests(mutants, open, files, memory) {
  const isKnown = ({ name, text }) => {
    const known = memory.tests[name];
    return known?.hash === text && open.every(({ key }) => known.asked.includes(key));
  };
  const failing = [];
  for (const group of inGroups(
    files.filter((file) => !isKnown(file)),
    kTogether,
  )) {
    for (const { name } of group) rmSync(join(kScratch, hitsOf(name)), { force: true });
    const names = group.map(({ name }) => name);
    const { failed } = await runTests('hits', names, { PERUSE_MUTANT_HITS: kScratch });
    failing.push(...failed);
    for (const { name, text } of group.filter((one) => !failed.includes(one.name))) {
      const file = join(kScratch, hitsOf(name));
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
      const seconds = Number(lines.find((line) => line.startsWith('seconds '))?.slice(8) ?? 1);
      const reached = mutants.filter(({ number }) => lines.includes(String(number))).map(({ key }) => key);
      memory.tests[name] = { hash: text, seconds, asked: mutants.map(({ key }) => key), reached };
    }
    memory.save();
  }
  return failing.length > 0 ? `not used, because they fail without a mutant: ${failing.join(', ')}` : undefined;
}

const wordsOf = (path) =>
  new Set(
    path
      .replace(/^.*\/(src|node)\//, '')
      .replace(/\.(test\.)?ts$/, '')
      .split(/\W|_/),
  );

/** The test files that reach a mutant in groups that run one after the other: first those of a similar name, and the fastest. */
function groupsOf({ file, key }, files, memory) {
  const own = wordsOf(file);
  const shared = (test) => [...wordsOf(test)].filter((word) => own.has(word)).length;
  const reaching = files.map(({ name }) => name).filter((name) => memory.tests[name]?.reached.includes(key));
  reaching.sort((a, b) => shared(b) - shared(a) || memory.tests[a].seconds - memory.tests[b].seconds);
  return [reaching.slice(0, kFirst), ...inGroups(reaching.slice(kFirst), kTogether)].filter((group) => group.length > 0);
}

/** Whether test files notice a mutant. One that also fails without the mutant counts for nothing: the others are asked again. */
async function isNoticed(mutant, group, memory) {
  const name = `mutant${mutant.number}`;
  const more = ['--bail', '1', '--maxWorkers', '1']; // several mutants are tried at the same time
  for (let files = group; files.length > 0; ) {
    const limit = kStart + kSlower * Math.max(...files.map((file) => memory.tests[file].seconds));
    const { passed, failed } = await runTests(name, files, { PERUSE_MUTANT: String(mutant.number) }, limit, more);
    if (passed) return false;
    const suspects = failed.length > 0 ? failed : files;
    const without = await runTests(name, suspects, {}, undefined, more);
    if (without.passed) return true;
    const unsure = without.failed.length > 0 ? without.failed : suspects;
    console.log(`${unsure.join(', ')} failed without a mutant, too`);
    files = files.filter((file) => !unsure.includes(file));
  }
  return false;
}

async function fateOf(mutant, files, memory) {
  const groups = groupsOf(mutant, files, memory);
  for (const group of groups) if (await isNoticed(mutant, group, memory)) return 'killed';
  return groups.length > 0 ? 'survived' : 'not covered';
}

export async function webMutants(count, seed, words, { fresh, atOnce }) {
  mkdirSync(kScratch, { recursive: true });
  writeTree();
  const missing = linkEngines(kVariants);
  if (missing.length > 0 || !existsSync(join(root, 'web/dist')))
    throw new Error(`build first (npm run build): ${['web/dist', ...missing].join(', ')}`);
  const places = withoutNested(chosen(allPlaces().filter(isNotEquivalent), 2 * count, seed)).slice(0, count);
  const mutants = places.map((place, number) => ({ ...place, number, where: `${place.file}:${place.line}`, key: keyOf(place) }));
  const files = testsNamed(words)
    .map((file) => ({ name: relative(root, file), text: hash(readFileSync(file, 'utf8')) }))
    .filter(({ name }) => !kNotUsed.test(name));
  const tests = hash(...files.map(({ text }) => text));
  const memory = new Memory('web', fresh);
  for (const mutant of mutants) mutant.fate = memory.fateOf(mutant, tests);
  const open = mutants.filter(({ fate }) => fate === undefined);
  if (open.length === 0) return mutants;
  try {
    compileMutants(mutants);
    await step('tests that reach the places', () => findTests(mutants, open, files, memory));
    await tryAll(open, atOnce, memory, tests, (mutant) => fateOf(mutant, files, memory));
  } finally {
    for (const file of new Set(mutants.map((one) => join(root, one.file)))) forget(file);
  }
  return mutants;
}
