// Measures subjects in turns. Results are medians over rounds, and medians of ratios within rounds, because other load slows a whole round.
import { median, medianRatio, ratioQuartiles } from './statistics.mjs';

const kWarmUpCalls = 3;
const kLeastSeconds = 0.01; // of a turn: shorter calls are repeated
const kPeakSeconds = { wall: 0.004, cpu: 0.1 }; // processor time is told in steps of some milliseconds

/**
 * Times one call of each subject ({ name, ask, library }) on `ids`, for at least `rounds` rounds and `seconds`. `clock` is 'wall', or 'cpu' for
 * processor time of one thread. Returns by name { times, flops, shares }: times and the shares of each peak are lists by round.
 */
export async function measureBatch(subjects, ids, { seconds, rounds, clock = 'wall' }) {
  const start = performance.now();
  const cells = new Map();
  for (const subject of subjects) {
    await subject.ask('batch', { ids });
    cells.set(subject.name, { ...(await warmUp(subject)), times: [], shares: {} });
  }
  for (let round = 0; round < rounds || performance.now() - start < seconds * 1000; ++round) {
    for (const subject of subjects) await takeTurn(subject, cells.get(subject.name), clock);
  }
  return cells;
}

/** Calls until V8's optimising compiler has replaced its baseline code. */
async function warmUp(subject) {
  let fastest = Infinity;
  const start = performance.now();
  const least = subject.warm ? 50 : 1500; // ms; the first batch of a subject pays for all
  for (let call = 0; call < kWarmUpCalls || performance.now() - start < least; ++call) {
    const { seconds } = await subject.ask('run', { calls: 1 });
    fastest = Math.min(fastest, seconds);
    if (!subject.warm && subject.library === 'peruse') await subject.ask('peak', { seconds: 0.02 });
    if (performance.now() - start > 10_000) break;
  }
  subject.warm = true;
  return { calls: Math.max(1, Math.ceil(kLeastSeconds / fastest)) };
}

export function timeBy(clock, { seconds, threadSeconds }) {
  return clock === 'cpu' && threadSeconds > 0 ? threadSeconds : seconds;
}

// Waits until onnxruntime-web's helpers, which poll for work after a call, are idle. A browser's processes cannot be observed, so the longest
// wait in Node is the minimum there.
const kRest = { least: 60, step: 20, most: 2000 }; // ms

async function rest() {
  const start = performance.now();
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await pause(kRest.least);
  for (let busy = true; busy && performance.now() - start < kRest.most; ) {
    const before = process.cpuUsage();
    await pause(kRest.step);
    const { user, system } = process.cpuUsage(before);
    busy = user + system > 0.2 * kRest.step * 1000;
  }
}

async function takeTurn(subject, cell, clock) {
  const time = (told) => timeBy(clock, told);
  await rest();
  const run = await subject.ask('run', { calls: cell.calls });
  // After the call, so that the calls of all subjects follow the same rest.
  const peak = subject.library === 'peruse' ? await subject.ask('peak', { seconds: kPeakSeconds[clock] }) : undefined;
  cell.times.push(time(run));
  cell.flops = run.flops;
  if (!peak) return;
  for (const [kind, loop] of Object.entries(peak)) {
    cell.shares[kind] ??= [];
    cell.shares[kind].push(run.flops / time(run) / (loop.operations / time(loop)));
  }
}

export function summary(cell, tokens) {
  const seconds = median(cell.times);
  return {
    milliseconds: seconds * 1000,
    tokensPerSecond: tokens / seconds,
    gigaflops: cell.flops ? cell.flops / seconds / 1e9 : undefined,
    shares: Object.fromEntries(Object.entries(cell.shares).map(([kind, list]) => [kind, median(list)])),
    rounds: cell.times.length,
  };
}

export function speedRatio(a, b) {
  return a && b ? medianRatio(b.times, a.times) : undefined;
}

export function speedQuartiles(a, b) {
  return a && b ? ratioQuartiles(b.times, a.times) : undefined;
}
