// Mutants of core: operators and truth values. One build of a copy of the sources has them all, and a switch turns each of them on (mutant.h). The
// native tests with sanitizers run once without mutants, which records the places that each test reaches (hits.cc).
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { foldersFor } from '../dev/native.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { kLong } from '../test/suites.mjs';
import { chosen } from './choose.mjs';
import { isNotEquivalent } from './equivalent.mjs';
import { succeeds } from './limited.mjs';
import { hash, keyOf, Memory, tryAll, withoutNested } from './memory.mjs';
import { placesIn } from './operators.mjs';

const kCopy = join(root, 'build/mutants-core');
const kScratch = join(root, 'build/mutants');
const kProgram = join(kCopy, 'build/native-debug/peruse_tests');
const kCopied = [
  'CMakeLists.txt',
  'CMakePresets.json',
  'bindings',
  'cmake',
  'core',
  'tests/bench',
  'tests/fuzz',
  'tests/native',
  'tests/tools',
];
const kLinked = ['tests/fixtures', 'models', 'tools', 'node_modules'];
/** The file of every test program to which hits.cc is added. */
const kListener = 'tests/native/shard_environment.cc';
const kAtOnce = availableParallelism();
/** Tests that compute for longer than kStart seconds and kSlower times their usual time do not end. */
const kStart = 10;
const kSlower = 4;
/** Seconds of tests that run as one process. */
const kTogether = 5;

/** Files that other tests than the native ones run: npm run test:gpu. */
const kTestedElsewhere = /^core\/backend\/webgpu\//;

const kNotCompiled = 'does not compile';

function filesIn(path) {
  const file = join(root, path);
  return statSync(file).isDirectory() ? readdirSync(file).flatMap((name) => filesIn(`${path}/${name}`)) : [path];
}

/** The text of a file with its mutants. A mutant takes as many lines as the place, so that the compiler's messages name its lines. */
function mutatedText(file, mutants) {
  let text = readFileSync(join(root, file), 'utf8');
  for (const { number, start, end, mutated } of mutants.sort((a, b) => b.start - a.start)) {
    text = text.slice(0, start) + mutated(`peruse_mutants::IsOn(${number})`) + text.slice(end);
  }
  return `#include "tools/mutants/mutant.h"\n#line 1\n${text}`;
}

/** Brings the copy of the sources up to date. Writes only what differs, so that nothing else is compiled again. */
function writeCopy(mutants) {
  for (const path of kLinked) {
    mkdirSync(dirname(join(kCopy, path)), { recursive: true });
    rmSync(join(kCopy, path), { force: true });
    symlinkSync(join(root, path), join(kCopy, path));
  }
  const files = kCopied.flatMap(filesIn);
  for (const path of kCopied.filter((one) => existsSync(join(kCopy, one)) && statSync(join(kCopy, one)).isDirectory())) {
    for (const name of readdirSync(join(kCopy, path), { recursive: true })) {
      if (!existsSync(join(root, path, name))) rmSync(join(kCopy, path, name), { recursive: true, force: true });
    }
  }
  for (const file of files) {
    const own = mutants.filter((one) => one.file === file);
    const copy = join(kCopy, file);
    if (own.length === 0 && file !== kListener) {
      if (existsSync(copy) && readFileSync(copy).equals(readFileSync(join(root, file)))) continue;
      cpSync(join(root, file), copy, { preserveTimestamps: false });
      continue;
    }
    const text =
      file === kListener ? `${readFileSync(join(root, file), 'utf8')}#include "tools/mutants/hits.cc"\n` : mutatedText(file, own);
    if (existsSync(copy) && readFileSync(copy, 'utf8') === text) continue;
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, text);
  }
}

/** Builds the tests. Returns '' or the compiler's messages. */
async function build() {
  const log = join(kScratch, 'build.txt');
  const output = openSync(log, 'w');
  const options = { cwd: kCopy, output };
  const built =
    (existsSync(join(kCopy, 'build/native-debug/build.ninja')) || (await succeeds('cmake', ['--preset', 'native-debug'], options))) &&
    (await succeeds('ninja', ['-C', 'build/native-debug', '-k', '0', `-j${kAtOnce}`, 'peruse_tests'], options));
  closeSync(output);
  return built ? '' : readFileSync(log, 'utf8');
}

/** Builds the first `count` candidates that compile. */
async function buildMutants(candidates, count, memory) {
  for (;;) {
    const mutants = candidates.filter(({ fate }) => fate !== kNotCompiled).slice(0, count);
    writeCopy(mutants);
    const messages = await build();
    if (messages === '') return mutants;
    const errors = [...messages.matchAll(/(core\/[\w/]+\.cc):(\d+):\d+: (?:fatal )?error:/g)].map(([, file, line]) => ({
      file,
      line: Number(line),
    }));
    const exact = mutants.filter((one) =>
      errors.some(({ file, line }) => file === one.file && line >= one.line - 1 && line <= one.line + 1),
    );
    const refused = exact.length > 0 ? exact : mutants.filter((one) => errors.some(({ file }) => file === one.file));
    if (refused.length === 0) throw new Error(`the tests do not build in ${kCopy}:\n${messages.slice(-3000)}`);
    for (const mutant of refused) memory.store(mutant, kNotCompiled);
  }
}

/** Runs tests. Returns { passed, tests }: of each test that ran its file, name, seconds, and the numbers of the mutants that it reached. */
async function runTests(name, args, env, seconds) {
  const hits = join(kScratch, `${name}.hits`);
  rmSync(hits, { force: true });
  const passed = await succeeds(kProgram, ['--gtest_brief=1', ...args], { cwd: kCopy, env: { ...env, PERUSE_MUTANT_HITS: hits }, seconds });
  const lines = existsSync(hits) ? readFileSync(hits, 'utf8').trim().split('\n') : [];
  const tests = lines.map((line) => {
    const [file, test, ok, time, ...reached] = line.split(' ');
    return {
      file: file.slice(file.indexOf('tests/native/')),
      test,
      passed: ok === '1',
      seconds: Number(time),
      reached: reached.map(Number),
    };
  });
  return { passed, tests };
}

/** Runs tests of these names, until one fails. */
function runNamed(name, tests, env, seconds) {
  const flags = join(kScratch, `${name}.flags`);
  writeFileSync(flags, `--gtest_filter=${tests.map(({ test }) => test).join(':')}\n`); // too long for an argument
  return runTests(name, [`--gtest_flagfile=${flags}`, '--gtest_fail_fast'], env, seconds);
}

/** Runs all tests without mutants. Returns those that pass. */
async function findTests() {
  const shares = Array.from({ length: kAtOnce }, (_, share) =>
    runTests(`share${share}`, [`--gtest_filter=-${kLong}`], { GTEST_TOTAL_SHARDS: `${kAtOnce}`, GTEST_SHARD_INDEX: `${share}` }),
  );
  const ran = (await Promise.all(shares)).flatMap(({ tests }) => tests);
  const failed = ran.filter(({ passed }) => !passed);
  if (failed.length > 0) console.log(`not used, because they fail without a mutant: ${failed.map(({ test }) => test).join(', ')}`);
  return ran.filter(({ passed }) => passed);
}

/** Tests in groups that take kTogether seconds each: one that does not end then costs little. */
function groupsOf(tests) {
  const groups = [];
  let left = 0;
  for (const test of tests) {
    if (left <= 0) {
      groups.push([]);
      left = kTogether;
    }
    groups.at(-1).push(test);
    left -= test.seconds;
  }
  return groups;
}

async function fateOf(mutant, tests) {
  const reaching = tests.filter(({ reached }) => reached.includes(mutant.number)).sort((a, b) => a.seconds - b.seconds);
  const folders = foldersFor(mutant.file).map((folder) => `tests/native/${folder}/`);
  const isNear = ({ file }) => folders.some((folder) => file.startsWith(folder));
  const groups = [...groupsOf(reaching.filter(isNear)), ...groupsOf(reaching.filter((one) => !isNear(one)))];
  const name = `mutant${mutant.number}`;
  for (const group of groups) {
    const limit = kStart + kSlower * group.reduce((sum, { seconds }) => sum + seconds, 0);
    const result = await runNamed(name, group, { PERUSE_MUTANT: String(mutant.number) }, limit);
    if (result.passed) continue;
    const failed = result.tests.filter(({ passed }) => !passed); // none if the program crashed, or did not end
    if (failed.length === 0 || (await runNamed(name, failed, {})).passed) return 'killed';
    console.log(`${failed[0].test} failed without a mutant, too`);
  }
  return groups.length > 0 ? 'survived' : 'not covered';
}

/** Tries `count` places that compile. */
export async function coreMutants(count, seed, { fresh, atOnce }) {
  mkdirSync(kScratch, { recursive: true });
  const files = readdirSync(join(root, 'core'), { recursive: true })
    .map((name) => `core/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.cc') && !kTestedElsewhere.test(file) && foldersFor(file).length > 0);
  const places = files.flatMap((file) => placesIn(readFileSync(join(root, file), 'utf8')).map((place) => ({ ...place, file })));
  const tests = hash(...filesIn('tests/native').map((file) => readFileSync(join(root, file), 'utf8')));
  const memory = new Memory('core', fresh);
  const candidates = withoutNested(chosen(places.filter(isNotEquivalent), 2 * count, seed)).map((place, number) => {
    const mutant = { ...place, number, where: `${place.file}:${place.line}`, key: keyOf(place) };
    return { ...mutant, fate: memory.fateOf(mutant, tests) };
  });
  let mutants;
  await step('tests of core with all mutants', async () => {
    mutants = await buildMutants(candidates, count, memory);
  });
  const open = mutants.filter(({ fate }) => fate === undefined);
  if (open.length === 0) return mutants;
  const build = hash(tests, ...mutants.map(({ key, number }) => `${key} ${number}`));
  await step('tests that reach the places', async () => {
    if (memory.tests.build === build) return 'known';
    memory.tests = { build, list: await findTests() };
    memory.save();
  });
  await tryAll(open, atOnce, memory, tests, (mutant) => fateOf(mutant, memory.tests.list));
  return mutants;
}
