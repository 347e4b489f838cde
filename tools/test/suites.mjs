// How each kind of suite is run and counted: { passed, failed, skipped }.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { root } from '../setup/root.mjs';

/**
 * What tests that draw their cases draw from: fixed, so that a red run says something of the commit, and green again means mended. New seeds
 * are for `npm run test:kernels`, `npm run test:attack`, and PERUSE_TEST_SEED.
 */
export const kSeed = Number(process.env.PERUSE_TEST_SEED ?? 1);

/** Processes that a GoogleTest program's tests are divided among. */
const kAtOnce = 2;

function readReport(file) {
  if (!existsSync(file)) throw new Error(`the suite ended without a report (${file})`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** A program that exits badly after a clean report (a leak, say) is a failure of its own. */
function withExit(counts, status) {
  return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** Runs a GoogleTest program, a part of its tests in each of some processes; shows each one's failures in full and its summary. */
export async function runGoogleTest(command, report) {
  const reports = Array.from({ length: kAtOnce }, (_, part) => report.replace(/json$/, `${part}.json`));
  const parts = await Promise.all(reports.map((file, part) => runPart(command, file, part)));
  const run = reports.flatMap((file) =>
    readReport(file).testsuites.flatMap(({ testsuite }) => testsuite.map((test) => `${test.classname}.${test.name}`)),
  );
  if (new Set(run).size < run.length) throw new Error('two processes ran the same tests');
  return parts.reduce((sum, { passed, failed, skipped }) => ({
    passed: sum.passed + passed,
    failed: sum.failed + failed,
    skipped: sum.skipped + skipped,
  }));
}

/** Every n-th test: those that take long stand together, so that the parts take as long as each other. */
async function runPart([program, ...args], report, part) {
  const env = { ...process.env, UBSAN_OPTIONS: 'print_stacktrace=1', GTEST_TOTAL_SHARDS: `${kAtOnce}`, GTEST_SHARD_INDEX: `${part}` };
  const options = [`--gtest_output=json:${report}`, '--gtest_brief=1', `--gtest_random_seed=${kSeed}`];
  const child = spawn(program, [...args, ...options], { stdio: ['ignore', 'pipe', 'pipe'], cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  console.log(output);
  const { tests, failures, errors, testsuites } = readReport(report);
  const skipped = testsuites.flatMap((suite) => suite.testsuite).filter((test) => test.result === 'SKIPPED').length;
  const failed = failures + errors;
  return withExit({ passed: tests - failed - skipped, failed, skipped }, status);
}

/** Runs a vitest script of package.json. */
export function runVitest(script, report, environment) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const env = { ...process.env, CI: '1' };
  if (environment.chromium.path) env.PERUSE_CHROMIUM = environment.chromium.path;
  if (environment.chromium.swiftshaderIcd) env.PERUSE_SWIFTSHADER_ICD = environment.chromium.swiftshaderIcd;
  const result = spawnSync('npm', ['run', '-s', script, '--', ...reporters], { stdio: 'inherit', cwd: root, env });
  const { numPassedTests, numFailedTests, numPendingTests } = readReport(report);
  return withExit({ passed: numPassedTests, failed: numFailedTests, skipped: numPendingTests }, result.status);
}

/** The TypeScript of package, tests and their type tests: one pass or one failure. */
export function runTypeCheck() {
  const { status } = spawnSync('npm', ['run', '-s', 'test:types'], { stdio: 'inherit', cwd: root });
  return status === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
