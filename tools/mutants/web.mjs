// Mutants of web/src: an own mutator instead of Stryker, which would add 120 packages. All changes are compiled at once into the tree of
// `npm run dev`, each behind a switch (PERUSE_MUTANT), so that one compilation is enough. A first run of all test files records which places each of them reaches
// (hits.mjs).
import { spawn } from 'node:child_process';
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
import { placesIn } from './places.mjs';

const kSources = join(root, 'web/src');
const kScratch = join(root, 'build/mutants');
const kAtOnce = 2;
const kLongestRun = 3600_000; // ms for all tests without mutants
const kLongestTest = '600000'; // ms, of these
const kFirst = 8; // files that run before the others
/** A mutant whose tests take longer than kStart ms and kSlower times their usual time is killed. */
const kStart = 60_000;
const kSlower = 4;

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
  for (const [file, own] of Map.groupBy?.(mutants, (one) => one.file) ?? grouped(mutants)) {
    let text = readFileSync(join(root, file), 'utf8');
    for (const { number, start, end, mutated } of own.sort((a, b) => b.start - a.start)) {
      text = text.slice(0, start) + mutated(`__mutant(${number})`) + text.slice(end);
    }
    compile(join(root, file), text + kSwitch);
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

/** Runs test files. Returns { passed, took }: all passed within `longest` milliseconds, and how many milliseconds they took. */
function runTests(files, env, longest, more = []) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'tools/dev/vitest.config.ts', ...more, ...files];
  const start = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'ignore', env: { ...process.env, ...env }, detached: true });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), longest);
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

/** Runs the test files without mutants, once. Adds to the mutants which files reach them, and how long each file took. */
async function findTests(mutants, words) {
  const report = join(kScratch, 'report.json');
  const files = testsNamed(words).map((file) => relative(root, file));
  await runTests(files, { PERUSE_MUTANT_HITS: kScratch }, kLongestRun, [
    '--reporter',
    'json',
    '--outputFile',
    report,
    '--testTimeout',
    kLongestTest,
  ]);
  const left = [];
  for (const { name, status, startTime, endTime } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const test = relative(root, name);
    if (status !== 'passed') {
      left.push(test);
      continue;
    }
    const hits = join(kScratch, hitsOf(test));
    const reached = new Set(existsSync(hits) ? readFileSync(hits, 'utf8').split('\n').map(Number) : []);
    for (const mutant of mutants) if (reached.has(mutant.number)) mutant.tests.push({ test, took: endTime - startTime });
  }
  if (left.length > 0) console.log(`not used, because they fail without a mutant: ${left.join(', ')}`);
  return `${mutants.filter(({ tests }) => tests.length > 0).length} of ${mutants.length} places are reached`;
}

const wordsOf = (path) =>
  new Set(
    path
      .replace(/^.*\/(src|node)\//, '')
      .replace(/\.(test\.)?ts$/, '')
      .split(/\W|_/),
  );

/** The test files of a mutant in groups that run one after the other, until one fails: first those of a similar name, and the fastest. */
function groupsOf({ file, tests }) {
  const own = wordsOf(file);
  const shared = ({ test }) => [...wordsOf(test)].filter((word) => own.has(word)).length;
  const ordered = [...tests].sort((a, b) => shared(b) - shared(a) || a.took - b.took);
  return [ordered.slice(0, kFirst), ordered.slice(kFirst)].filter((group) => group.length > 0);
}

async function fateOf(mutant) {
  if (mutant.tests.length === 0) return 'not covered';
  for (const group of groupsOf(mutant)) {
    const files = group.map(({ test }) => test);
    const longest = kStart + kSlower * group.reduce((sum, { took }) => sum + took, 0);
    const { passed } = await runTests(files, { PERUSE_MUTANT: String(mutant.number) }, longest, ['--bail', '1', '--reporter', 'dot']);
    if (!passed) return 'killed';
  }
  return 'survived';
}

export async function webMutants(count, seed, words) {
  rmSync(kScratch, { recursive: true, force: true });
  mkdirSync(kScratch, { recursive: true });
  writeTree();
  const missing = linkEngines(kVariants);
  if (missing.length > 0 || !existsSync(join(root, 'web/dist')))
    throw new Error(`build first (npm run build): ${['web/dist', ...missing].join(', ')}`);
  const places = withoutNested(chosen(allPlaces().filter(isNotEquivalent), 2 * count, seed)).slice(0, count);
  const mutants = places.map((place, number) => ({ ...place, number, tests: [], where: `${place.file}:${place.line}` }));
  const changed = [...new Set(mutants.map(({ file }) => join(root, file)))];
  try {
    compileMutants(mutants);
    await step('tests that reach the places', () => findTests(mutants, words));
    await each(mutants, async (mutant) => {
      mutant.fate = await fateOf(mutant);
      console.log(`${mutant.fate}: ${mutant.where}: ${mutant.change.slice(0, 120)}`);
    });
  } finally {
    for (const file of changed) forget(file);
    if (existsSync(kScratch)) rmSync(kScratch, { recursive: true });
  }
  return mutants;
}
