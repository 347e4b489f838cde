// Mutants of web/src: an own mutator instead of Stryker, which would add 120 packages. All changes are compiled at once into the tree of
// `npm run dev`, each behind a switch (PERUSE_MUTANT), so that one compilation is enough. A first run of each test file finds the places that it reaches.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { testsNamed } from '../dev/needed_builds.mjs';
import { compile, forget, isSource, linkEngines, writeTree } from '../dev/tree.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { kVariants } from '../variants.mjs';
import { chosen } from './choose.mjs';
import { placesIn } from './places.mjs';

const kSources = join(root, 'web/src');
const kScratch = join(root, 'build/mutants');
const kAtOnce = 2;
const kLongest = 120_000; // ms for the tests of one mutant; a mutant that takes longer is killed
const kMostTests = 90_000; // ms of tests for one mutant, the fastest first

/** Whether mutant `n` is on. Appended to each changed file; also records that the place was reached. */
const kSwitch = `
function __mutant(n) {
  const { PERUSE_MUTANT: on, PERUSE_MUTANT_HITS: hits } = globalThis.process?.env ?? {};
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
  return files.flatMap((file) => placesIn(readFileSync(file, 'utf8'), file).map((place) => ({ ...place, file })));
}

/** Compiles the files with their mutants. Nested places would need each other's texts, so inner ones are left out. */
function compileMutants(mutants) {
  for (const [file, own] of Map.groupBy?.(mutants, (one) => one.file) ?? grouped(mutants)) {
    let text = readFileSync(file, 'utf8');
    for (const { number, start, end, mutated } of own.sort((a, b) => b.start - a.start)) {
      text = text.slice(0, start) + mutated(`__mutant(${number})`) + text.slice(end);
    }
    compile(file, text + kSwitch);
  }
}

function grouped(mutants) {
  const groups = new Map();
  for (const one of mutants) groups.set(one.file, [...(groups.get(one.file) ?? []), one]);
  return groups;
}

function withoutNested(places) {
  const overlaps = (a, b) => a.file === b.file && a.start < b.end && b.start < a.end;
  return places.filter((one, i) => !places.slice(0, i).some((earlier) => overlaps(one, earlier)));
}

/** Runs test files. Returns { passed, took }. */
function runTests(files, env) {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'tools/dev/vitest.config.ts',
    '--bail',
    '1',
    '--reporter',
    'dot',
    ...files,
  ];
  const start = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'ignore', env: { ...process.env, ...env }, detached: true });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), kLongest);
  return new Promise((resolve, reject) => {
    child.on('error', reject).on('close', (status) => {
      clearTimeout(timer);
      resolve({ passed: status === 0, took: performance.now() - start });
    });
  });
}

/** Calls `work` for every item, a few at the same time. */
async function each(items, work) {
  const waiting = [...items];
  const one = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: kAtOnce }, one));
}

/** Runs every test file without mutants. Adds to the mutants which files reach them. */
async function findTests(mutants, words) {
  const left = [];
  await each(testsNamed(words), async (test) => {
    const hits = join(kScratch, `${relative(root, test).replace(/\W/g, '_')}.txt`);
    appendFileSync(hits, '');
    const { passed, took } = await runTests([relative(root, test)], { PERUSE_MUTANT_HITS: hits });
    if (!passed) left.push(relative(root, test));
    const reached = new Set(readFileSync(hits, 'utf8').split('\n').map(Number));
    if (passed) for (const mutant of mutants) if (reached.has(mutant.number)) mutant.tests.push({ test: relative(root, test), took });
  });
  if (left.length > 0) console.log(`not used, because they fail without a mutant: ${left.join(', ')}`);
  return `${mutants.filter(({ tests }) => tests.length > 0).length} of ${mutants.length} places are reached`;
}

function fastest(tests) {
  const ordered = [...tests].sort((a, b) => a.took - b.took);
  const sumTo = (index) => ordered.slice(0, index + 1).reduce((sum, { took }) => sum + took, 0);
  return ordered.filter((_, index) => index === 0 || sumTo(index) <= kMostTests);
}

export async function webMutants(count, seed, words) {
  rmSync(kScratch, { recursive: true, force: true });
  mkdirSync(kScratch, { recursive: true });
  writeTree();
  const missing = linkEngines(kVariants);
  if (missing.length > 0) throw new Error(`build the engines first (npm run build): ${missing.join(', ')} are missing`);
  const places = withoutNested(chosen(allPlaces(), 2 * count, seed)).slice(0, count);
  const mutants = places.map((place, number) => ({ ...place, number, tests: [], where: `${relative(root, place.file)}:${place.line}` }));
  const changed = [...new Set(mutants.map(({ file }) => file))];
  try {
    compileMutants(mutants);
    await step('tests that reach the places', () => findTests(mutants, words));
    await each(mutants, async (mutant) => {
      const tests = fastest(mutant.tests).map(({ test }) => test);
      const passed = tests.length > 0 && (await runTests(tests, { PERUSE_MUTANT: String(mutant.number) })).passed;
      mutant.fate = tests.length === 0 ? 'not covered' : passed ? 'survived' : 'killed';
      console.log(`${mutant.fate}: ${mutant.where}: ${mutant.change.slice(0, 120)}`);
    });
  } finally {
    for (const file of changed) forget(file);
    if (existsSync(kScratch)) rmSync(kScratch, { recursive: true });
  }
  return mutants;
}
