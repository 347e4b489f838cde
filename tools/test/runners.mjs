// Runs each kind of suite. Runners return { passed, failed, skipped, processor, tests, output }: `tests` are { name, seconds, failure }, with
// the message of a failed test; `processor` is seconds of processor time or undefined.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../setup/root.mjs';
import { runMeasured } from './measure.mjs';

export const kResults = join(root, 'build/test-results');

/** Seed of all random cases, fixed so that the commit causes a failure. test:kernels, test:attack and PERUSE_TEST_SEED set others. */
export const kSeed = Number(process.env.PERUSE_TEST_SEED ?? 1);

const kAtOnce = 2;
/** Number of parts of a GoogleTest suite. It exceeds the number of processes, so that these end at about the same time. */
const kParts = 6;

export function runSuite(suite, environment, show) {
  mkdirSync(kResults, { recursive: true });
  if (suite.googletest) return runGoogleTest(suite, show);
  const options = { env: environmentOf(environment), show, keep: true };
  return suite.vitest ? runVitest(suite, options) : runCommand(suite, options);
}

function environmentOf({ chromium }) {
  const env = { ...process.env, CI: '1' };
  if (chromium.path) env.PERUSE_CHROMIUM = chromium.path;
  if (chromium.swiftshaderIcd) env.PERUSE_SWIFTSHADER_ICD = chromium.swiftshaderIcd;
  return env;
}

function readReport(file) {
  if (!existsSync(file)) throw new Error(`the suite ended without a report (${file})`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Adds a failure if a program ends with an error after a clean report, for example because of a leak. */
function withExit(counts, status) {
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function sum(values) {
  return values.includes(undefined) ? undefined : values.reduce((total, value) => total + value, 0);
}

async function runGoogleTest(suite, show) {
  const parts = [];
  let next = 0;
  const runParts = async () => {
    while (next < kParts) parts.push(await runPart(suite, next++, show));
  };
  await Promise.all(Array.from({ length: kAtOnce }, runParts));
  const tests = parts.flatMap((part) => part.tests);
  if (new Set(tests.map(({ name }) => name)).size < tests.length) throw new Error('two processes ran the same tests');
  const add = (field) => sum(parts.map((part) => part[field]));
  const output = parts.map((part) => part.output).join('\n');
  return { passed: add('passed'), failed: add('failed'), skipped: add('skipped'), processor: add('processor'), tests, output };
}

/** Runs every n-th test, because slow tests are neighbours. */
async function runPart({ name, googletest, filter }, part, show) {
  const report = join(kResults, `${name}.${part}.json`);
  rmSync(report, { force: true });
  const env = { ...process.env, UBSAN_OPTIONS: 'print_stacktrace=1', GTEST_TOTAL_SHARDS: `${kParts}`, GTEST_SHARD_INDEX: `${part}` };
  const options = [`--gtest_output=json:${report}`, '--gtest_brief=1', `--gtest_random_seed=${kSeed}`];
  if (filter) options.push(`--gtest_filter=${filter}`);
  const program = googletest.endsWith('js') ? [process.execPath, join(root, googletest)] : [join(root, googletest)];
  const { status, output, processor } = await runMeasured([...program, ...options], { env, show: false, keep: true });
  if (show) console.log(output);
  const { tests, failures, errors, testsuites } = readReport(report);
  const all = testsuites.flatMap(({ testsuite }) => testsuite);
  const skipped = all.filter((test) => test.result === 'SKIPPED').length;
  const failed = failures + errors;
  return {
    ...withExit({ passed: tests - failed - skipped, failed, skipped }, status),
    processor,
    output,
    tests: all.map((test) => ({
      name: `${test.classname}.${test.name}`,
      seconds: Number.parseFloat(test.time),
      failure: test.failures?.map(({ failure }) => failure).join('\n'),
    })),
  };
}

function testsOf({ name: path, assertionResults, status, message }) {
  const name = relative(root, path);
  if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) return [{ name, seconds: 0, failure: message }];
  return assertionResults.map((test) => ({
    name: `${name}: ${test.fullName}`,
    seconds: (test.duration ?? 0) / 1000,
    failure: test.status === 'failed' ? test.failureMessages.join('\n') : undefined,
  }));
}

async function runVitest({ name, vitest, files = [], names, within = [] }, options) {
  const report = join(kResults, `${name}.json`);
  rmSync(report, { force: true });
  const command = [...within, process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...files];
  for (const project of vitest) command.push('--project', project);
  if (names) command.push('--testNamePattern', names);
  command.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
  const { status, output, processor } = await runMeasured(command, options);
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = readReport(report);
  const tests = testResults.flatMap((file) => testsOf(file));
  // In the report, tests that the row does not name are pending too.
  const skipped = names ? 0 : numPendingTests;
  return { ...withExit({ passed: numPassedTests, failed: numFailedTests, skipped }, status), processor, tests, output };
}

/** Runs a program with the last line "<n> passed, <n> failed"; any other program counts as one test, by its exit status. */
async function runCommand({ command }, options) {
  const { status, output, processor } = await runMeasured(command, options);
  const counts = /^(\d+) passed, (\d+) failed$/.exec(output.trimEnd().split('\n').at(-1));
  const [passed, failed] = counts ? [Number(counts[1]), Number(counts[2])] : status === 0 ? [1, 0] : [0, 1];
  return { ...withExit({ passed, failed }, status), skipped: 0, processor, tests: [], output };
}
