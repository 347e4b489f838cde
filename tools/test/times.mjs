// Stores times of suites, builds and tests in build/test-results/times.json, prints them, and checks limits.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kResults } from './runners.mjs';

const kFile = join(kResults, 'times.json');
const kSlowest = 12;

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

/** The median; 1 for no values. */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? 1 : sorted[sorted.length >> 1];
}

/**
 * Returns a sentence for each suite that took too much processor time, from the table's `usual` and the measured `processor`. If everything
 * takes longer, the limits grow by the median factor of all suites.
 */
export function overTime(results) {
  const measured = results.filter(({ processor, usual }) => processor !== undefined && usual > 0);
  const slowness = Math.max(1, median(measured.map(({ processor, usual }) => processor / usual)));
  return measured
    .filter(({ processor, usual }) => processor > kFactor * slowness * usual + kSlack)
    .map(({ name, processor, usual }) => `${name} took ${processor.toFixed(0)} s of processor time, usually ${usual} s`)
    .map((line) => `${line} (this machine takes ${slowness.toFixed(1)} times the usual)`);
}
