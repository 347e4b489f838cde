// Stores times of suites, builds and tests in build/test-results/times.json, prints them, and checks limits.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kResults } from './runners.mjs';

const kFile = join(kResults, 'times.json');
const kSlowest = 12;

/** Limit for the fast tier without builds, in seconds of processor time. */
const kFastTier = 1200;
/** A suite may take kFactor times its usual processor time plus kSlack seconds, because start-up dominates short suites. */
const kFactor = 2;
const kSlack = 20;

export function readTimes() {
  return existsSync(kFile) ? JSON.parse(readFileSync(kFile, 'utf8')) : { suites: {} };
}

export function storeTimes(results, buildSeconds) {
  const { suites } = readTimes();
  for (const { name, seconds, processor, tests } of results) {
    const round = (value) => value && Math.round(value * 10) / 10;
    suites[name] = { seconds: round(seconds), processor: round(processor), tests: tests.length };
  }
  writeFileSync(kFile, `${JSON.stringify({ builds: Math.round(buildSeconds), suites }, null, 2)}\n`);
}

export function slowest(results) {
  const suites = [...results].sort((a, b) => b.seconds - a.seconds).slice(0, kSlowest);
  const tests = results
    .flatMap(({ name, tests }) => tests.map((test) => ({ ...test, suite: name })))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, kSlowest);
  const processor = (value) => (value === undefined ? '' : `, ${value.toFixed(0)} s of processor time`);
  return [
    'slowest suites',
    ...suites.map((suite) => `${suite.seconds.toFixed(0).padStart(6)} s  ${suite.name}${processor(suite.processor)}`),
    'slowest tests',
    ...tests.map((test) => `${test.seconds.toFixed(1).padStart(6)} s  ${test.suite}: ${test.name}`),
  ];
}

/** Estimates the seconds of suites with this usual processor time: at the pace of those before, which had `done` in `seconds`. */
export function expectedSeconds(usual, done, seconds) {
  return done === 0 ? 0 : (usual * seconds) / done;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? 1 : sorted[sorted.length >> 1];
}

/** How many times the usual processor time suites take on this machine: the median, at least 1. */
function slownessOf(suites) {
  return Math.max(1, median(suites.map(({ processor, usual }) => processor / usual)));
}

/**
 * Returns a sentence for each suite that took too much processor time, from the table's `usual` and the measured `processor`. If everything
 * takes longer, the limits grow by the median factor of all suites; that of the fast tier by the factor of its own, if it is larger: a slow host
 * slows Node and compilers more than loops of arithmetic, which are most of the other suites.
 */
export function overTime(results) {
  const measured = results.filter(({ processor, usual }) => processor !== undefined && usual > 0);
  const slowness = slownessOf(measured);
  const found = measured
    .filter(({ processor, usual }) => processor > kFactor * slowness * usual + kSlack)
    .map(({ name, processor, usual }) => `${name} took ${processor.toFixed(0)} s of processor time, usually ${usual} s`);
  const fast = measured.filter(({ tier }) => tier === 'fast');
  const took = fast.reduce((sum, { processor }) => sum + processor, 0);
  if (took > kFastTier * Math.max(slowness, slownessOf(fast)))
    found.push(`the fast tier took ${took.toFixed(0)} s of processor time; ${kFastTier} s are allowed`);
  return found.map((line) => `${line} (this machine takes ${slowness.toFixed(1)} times the usual)`);
}
