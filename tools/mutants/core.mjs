// Mutants of core: operators and truth values, one at a time, in a copy of the sources. The tests are those of the folder (npm run dev -- --native).

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersFor } from '../dev/native.mjs';
import { root } from '../setup/root.mjs';
import { step } from '../setup/step.mjs';
import { chosen } from './choose.mjs';
import { isNotEquivalent } from './equivalent.mjs';

const kCopy = join(root, 'build/mutants-core');
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
/** A mutant whose tests take longer than kStart ms and kSlower times their usual time is killed. */
const kStart = 30_000;
const kSlower = 4;

/** The texts that are changed. clang-format writes comparisons and sums with spaces, and the brackets of templates without. */
const kOthers = [
  [/ (==) /g, '!='],
  [/ (!=) /g, '=='],
  [/ (<) /g, '<='],
  [/ (<=) /g, '<'],
  [/ (>) /g, '>='],
  [/ (>=) /g, '>'],
  [/ (&&) /g, '||'],
  [/ (\|\|) /g, '&&'],
  [/ (\+) /g, '-'],
  [/ (-) /g, '+'],
  [/\breturn (true);/g, 'false'],
  [/\breturn (false);/g, 'true'],
];

/** Lines without code that tests can reach: comments, includes, templates, checks of Peruse's own faults. */
const kOther = /^\s*(\/\/|#|template|static_assert|PERUSE_CHECK|using )/;

/** Loops over whole vectors: one vector fewer leaves more to the loop after them, which computes the same. */
const kVectorLoop = / <= [\w.]+; \w+ \+= (kLanes|[2-9]\d*)\)/;

/** A sum of strings: with a minus it does not compile. */
const kTexts = /"|std::to_string/;

/** Files that other tests than the native ones run: npm run test:gpu. */
const kTestedElsewhere = /^core\/backend\/webgpu\//;

/** What fails only when memory runs out: tests/native/memory lets every allocation fail. */
const kAllocates = /\bTry[A-Z]|Resize\(|Reserve\(|\.ok\(\)/;

/** The test folders of a place. Some members of families are only used when a trained model is saved. */
const testsOf = ({ file, change }) => [
  ...foldersFor(file),
  ...(file.startsWith('core/families/') ? ['train'] : []),
  ...(kAllocates.test(change) ? ['memory'] : []),
];

export function placesIn(file, text) {
  const places = [];
  let at = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const code = line.replace(/"(?:[^"\\]|\\.)*"|\/\/.*$/g, (part) => ' '.repeat(part.length));
    if (!kOther.test(line) && !kVectorLoop.test(line)) {
      for (const [pattern, other] of kOthers) {
        if (other === '-' && kTexts.test(line)) continue;
        for (const match of code.matchAll(pattern)) {
          const start = at + match.index + match[0].indexOf(match[1]);
          const change = `${line.trim()} (${match[1]} -> ${other})`;
          places.push({ file, start, end: start + match[1].length, other, change, where: `${file}:${index + 1}` });
        }
      }
    }
    at += line.length + 1;
  }
  return places;
}

function copySources() {
  mkdirSync(join(kCopy, 'tests'), { recursive: true });
  for (const path of kCopied) {
    rmSync(join(kCopy, path), { recursive: true, force: true });
    cpSync(join(root, path), join(kCopy, path), { recursive: true, preserveTimestamps: true });
  }
  for (const path of kLinked) {
    rmSync(join(kCopy, path), { force: true });
    symlinkSync(join(root, path), join(kCopy, path));
  }
}

/** Runs a program in the copy. Returns whether it succeeded. */
function succeeds(program, args, timeout) {
  return spawnSync(program, args, { cwd: kCopy, stdio: 'ignore', timeout, killSignal: 'SIGKILL' }).status === 0;
}

function build(folders) {
  return succeeds('ninja', ['-C', 'build/native-dev', ...folders.map((folder) => `peruse_${folder}_tests`)]);
}

/** Runs the tests of a folder. Returns whether they passed within `longest` milliseconds. */
function passes(folder, longest) {
  return succeeds(`build/native-dev/peruse_${folder}_tests`, ['--gtest_brief=1', '--gtest_fail_fast'], longest);
}

/** Returns how many milliseconds the tests of each folder may take. */
function limitsOf(folders) {
  const limits = new Map();
  for (const folder of folders) {
    const start = performance.now();
    if (!passes(folder)) throw new Error(`the tests of ${folder} fail without a mutant`);
    limits.set(folder, kStart + kSlower * (performance.now() - start));
  }
  return limits;
}

/** Returns 'killed', 'survived', or 'does not compile'. `limits`: as limitsOf() returns. */
function fateOf(place, limits) {
  const { file, start, end, other } = place;
  const folders = testsOf(place);
  const text = readFileSync(join(root, file), 'utf8');
  writeFileSync(join(kCopy, file), text.slice(0, start) + other + text.slice(end));
  try {
    if (!build(folders)) return 'does not compile';
    return folders.every((folder) => passes(folder, limits.get(folder))) ? 'survived' : 'killed';
  } finally {
    writeFileSync(join(kCopy, file), text);
  }
}

/** Tries `count` places that compile. */
export async function coreMutants(count, seed) {
  const files = readdirSync(join(root, 'core'), { recursive: true })
    .map((name) => `core/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.cc') && !kTestedElsewhere.test(file) && foldersFor(file).length > 0);
  const places = files.flatMap((file) => placesIn(file, readFileSync(join(root, file), 'utf8'))).filter(isNotEquivalent);
  const mutants = chosen(places, 2 * count, seed);
  const folders = [...new Set(mutants.slice(0, count).flatMap(testsOf))];
  let limits;
  await step(`tests of ${folders.join(', ')}`, () => {
    copySources();
    if (!succeeds('cmake', ['--preset', 'native-dev']) || !build(folders)) throw new Error(`the tests do not build in ${kCopy}`);
    limits = limitsOf(folders);
  });
  const tried = [];
  for (const mutant of mutants) {
    if (tried.length === count) break;
    mutant.fate = fateOf(mutant, limits);
    if (mutant.fate === 'does not compile') continue;
    tried.push(mutant);
    console.log(`${mutant.fate}: ${mutant.where}: ${mutant.change.slice(0, 120)}`);
  }
  return tried;
}
