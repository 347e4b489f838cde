#!/usr/bin/env node
// Sets up, builds and runs test suites, by default the fast ones (--help lists options; tools/test/suites.mjs is the table). Last line: "<n>
// passed, <n> failed". A suite without tests, or with a failed build, counts as a failure.
import { runAsProgram } from './setup/main_module.mjs';
import { setup } from './setup.mjs';
import { makeBuilds } from './test/builds.mjs';
import { failures } from './test/failures.mjs';
import { runSuite } from './test/runners.mjs';
import { kUsage, readOptions } from './test/selection.mjs';
import { expectedSeconds, overTime, readTimes, slowest, storeTimes } from './test/times.mjs';

const seconds = (since) => (performance.now() - since) / 1000;

function list(suites) {
  const { suites: times } = readTimes();
  console.log('suite           tier  usual  here   covers (usual: processor time; here: time of the last run; in seconds)');
  for (const { name, tier, processor, covers, why, builds } of suites) {
    const here = times[name] ? times[name].seconds.toFixed(0) : '';
    console.log(`${name.padEnd(15)} ${tier.padEnd(4)}  ${`${processor}`.padStart(5)}  ${here.padStart(4)}   ${covers}`);
    if (why) console.log(`${''.padEnd(35)}${why}`);
    console.log(`${''.padEnd(35)}builds: ${builds.join(', ')}`);
  }
}

/** Groups of suites that run at the same time: a suite, and those that run during it. */
function together(suites) {
  const first = suites.filter(({ during }) => !suites.some(({ name }) => name === during));
  return first.map((suite) => [suite, ...suites.filter(({ during }) => during === suite.name)]);
}

/** Runs a suite. With `show` its output appears while it runs, otherwise at its end. */
async function run(suite, environment, failedBuilds, show) {
  const title = `\n== ${suite.name}: ${suite.covers}`;
  if (show) console.log(title);
  const start = performance.now();
  let result = { passed: 0, failed: 0, skipped: 0, tests: [], output: '' };
  try {
    const missing = suite.builds.find((build) => failedBuilds.has(build));
    if (missing) throw new Error(`not run: the build '${missing}' failed`);
    result = await runSuite(suite, environment, show);
    if (result.passed + result.failed === 0) throw new Error('the suite ran no tests');
  } catch (error) {
    result.failed += 1;
    result.error = error.message;
  }
  if (!show) console.log(`${title}\n${result.output}`);
  if (result.error) console.error(result.error);
  const took = seconds(start);
  const processor = result.processor === undefined ? '' : `, ${result.processor.toFixed(0)} s of processor time`;
  const skipped = result.skipped ? `, ${result.skipped} skipped` : '';
  console.log(`== ${suite.name}: ${result.passed} passed, ${result.failed} failed${skipped} (${took.toFixed(0)} s${processor})`);
  return { ...result, name: suite.name, tier: suite.tier, usual: suite.processor, seconds: took };
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  if (options.help) return console.log(kUsage);
  if (options.list) return list(options.suites);
  const start = performance.now();
  const environment = await setup();
  const building = performance.now();
  const failedBuilds = await makeBuilds(new Set(options.suites.flatMap(({ builds }) => builds)));
  const buildSeconds = seconds(building);
  console.log(`\n${options.suites.length} suites: ${options.suites.map(({ name }) => name).join(', ')}`);

  const results = [];
  const left = [];
  const testing = performance.now();
  const usual = (suites, field) => suites.reduce((sum, suite) => sum + suite[field], 0);
  for (const suites of together(options.suites)) {
    const expected = expectedSeconds(usual(suites, 'processor'), usual(results, 'usual'), seconds(testing));
    if (suites[0].tier !== 'fast' && seconds(start) + expected > options.minutes * 60) {
      left.push(...suites);
      continue;
    }
    results.push(...(await Promise.all(suites.map((suite, index) => run(suite, environment, failedBuilds, index === 0)))));
  }
  storeTimes(results, buildSeconds);

  console.log(`\n${slowest(results).join('\n')}`);
  const tooSlow = options.checkTimes ? overTime(results) : [];
  for (const line of tooSlow) console.error(`TOO SLOW: ${line}`);
  const total = (field) => results.reduce((sum, result) => sum + result[field], 0);
  const failed = total('failed') + tooSlow.length;
  const red = results.filter((result) => result.failed > 0);
  if (red.length > 0) console.log(`\n${failures(results).join('\n')}\nfailed: ${red.map(({ name }) => name).join(', ')}`);
  if (left.length > 0)
    console.log(`\nNOT RUN, for they would end after ${options.minutes} minutes: ${left.map(({ name }) => name).join(', ')}`);
  console.log(`\n${seconds(start).toFixed(0)} s, ${buildSeconds.toFixed(0)} of them builds`);
  console.log(`${total('passed')} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

await runAsProgram(import.meta.url, main);
