#!/usr/bin/env node
// Attacks the built package on this machine: npm run test:attack -- [--minutes N] [--seed S] [--parts files,calls,...]
//   files    broken files of every kind         aborts   aborts at random times, load and dispose, memory
//   calls    hostile arguments and options      kill     processes killed while they download and store
//   server   a server with faults               nth      every n-th fetch, cache call and message fails once
//   cache    caches with faults                 soak     long work in Node; browser: the same in Chromium
//   onnx     the reader of ONNX files alone
//   levels   300 loads in every build, in Node and in Chromium
// A call must end with finite numbers or a PeruseError other than 'internal'. Nothing else may throw, hang or crash, memory must not rise, and
// the next call must work.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runAsProgram } from '../../tools/setup/main_module.mjs';

/** Shares of the time. */
const kParts = { files: 3, onnx: 1, calls: 2, server: 2, cache: 1, kill: 1, aborts: 2, nth: 1, soak: 2, browser: 1, levels: 2 };
/** Parts of `npm run test:all`, for which 'levels' takes too long. */
const kTestedParts = Object.keys(kParts).filter((part) => part !== 'levels');
const kAtOnce = 2;
const kSilence = 600_000; // ten times the longest case

async function runAttack({ minutes, seed = Math.floor(Math.random() * 2 ** 31), parts = Object.keys(kParts) }) {
  console.log(`attack: seed ${seed}, ${minutes} minutes`);
  const shares = parts.reduce((sum, part) => sum + kParts[part], 0);
  const result = { passed: 0, failed: 0 };
  const left = [...parts];
  const work = async () => {
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      const seconds = Math.round((minutes * 60 * kAtOnce * kParts[part]) / shares);
      result[(await runPart(part, seed, seconds)) ? 'passed' : 'failed'] += 1;
    }
  };
  await Promise.all(Array.from({ length: kAtOnce }, work));
  return result;
}

function runPart(part, seed, seconds) {
  return new Promise((resolve) => {
    const program = fileURLToPath(new URL('child.mjs', import.meta.url));
    const child = fork(program, [part, String(seed), String(seconds)], {
      execArgv: ['--expose-gc', '--unhandled-rejections=warn'],
      silent: true,
    });
    let last = 'the start';
    let counts;
    let errors = '';
    const findings = [];
    const notes = [];
    let watch;
    const heard = () => {
      clearTimeout(watch);
      watch = setTimeout(() => {
        findings.push(`nothing was heard for ${kSilence / 1000} s`);
        child.kill('SIGKILL');
      }, kSilence);
    };
    heard();
    child.stderr.on('data', (text) => {
      errors = (errors + text).slice(-4000);
    });
    child.on('message', (message) => {
      heard();
      if (message.begin !== undefined) last = message.begin;
      if (message.note !== undefined) notes.push(message.note);
      if (message.finding !== undefined) findings.push(message.finding);
      counts = message.done ?? message.counts ?? counts;
    });
    child.on('exit', (code, signal) => {
      clearTimeout(watch);
      if (findings.length === 0 && (code !== 0 || counts === undefined))
        findings.push(`the process ended with ${signal ?? code}: ${errors}`);
      const counted = Object.entries(counts ?? {}).map(([what, count]) => `${what} ${count}`);
      console.log(`attack ${part}: ${[...counted, ...notes].join(', ')} in ${seconds} s`);
      for (const finding of findings) console.error(`attack ${part}: FINDING (seed ${seed}) in ${last}: ${finding}`);
      resolve(findings.length === 0);
    });
  });
}

function parseOptions() {
  const options = { minutes: { type: 'string', default: '10' }, seed: { type: 'string' }, parts: { type: 'string' } };
  const { values } = parseArgs({ options });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes is a number above 0');
  const parts = values.parts === 'tested' ? kTestedParts : values.parts?.split(',');
  const unknown = parts?.find((part) => !(part in kParts));
  if (unknown !== undefined) throw new Error(`no part '${unknown}'; there are ${Object.keys(kParts).join(', ')}`);
  return { minutes, seed: values.seed === undefined ? undefined : Number(values.seed), parts };
}

await runAsProgram(import.meta.url, async () => {
  const { passed, failed } = await runAttack(parseOptions());
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exit(1);
});
