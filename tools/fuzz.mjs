#!/usr/bin/env node
// Runs the libFuzzer programs of tests/fuzz: node tools/fuzz.mjs [--seconds N] [--targets config,safetensors,...]
// Each runs for N seconds (default 60), from tests/fuzz/corpus and the cached inputs of earlier runs. Failing inputs are written to
// build/fuzz-findings.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPreset } from './build.mjs';
import { cacheDir } from './setup/cache.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

/** The programs, with the longest input in bytes: short inputs run faster. */
export const kTargets = {
  config: 4096,
  json: 1024,
  pytorch: 8192,
  safetensors: 2048,
  sentencepiece: 4096,
  tokenizer_json: 8192,
  tokenizer_text: 512,
  vocab_files: 2048,
};
const kAtOnce = 2;
const kFindings = join(root, 'build/fuzz-findings');
/** Number of files above which a corpus is reduced to those that increase coverage. */
const kMostFiles = 1500;

async function runFuzzers({ seconds, targets = Object.keys(kTargets) }) {
  await step(
    'build fuzzers',
    () =>
      void buildPreset(
        'native-fuzz',
        targets.map((name) => `${name}_fuzz`),
      ),
  );
  mkdirSync(kFindings, { recursive: true });
  const left = [...targets];
  const result = { passed: 0, failed: 0 };
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) result[(await fuzz(name, seconds)) ? 'passed' : 'failed']++;
  };
  await Promise.all(Array.from({ length: kAtOnce }, work));
  return result;
}

async function fuzz(name, seconds) {
  const corpus = join(cacheDir, 'fuzz', name);
  mkdirSync(corpus, { recursive: true });
  // Limits for one input; parsers need a tenth of them.
  const limits = [`-max_len=${kTargets[name]}`, '-timeout=10', '-rss_limit_mb=2048', '-malloc_limit_mb=128', '-print_funcs=0'];
  const { status, output } = await runProgram(name, [
    `-max_total_time=${seconds}`,
    `-artifact_prefix=${kFindings}/${name}-`,
    ...limits,
    corpus,
    ...seeds(name),
  ]);
  const runs = /^Done (\d+) runs/m.exec(output)?.[1];
  if (status !== 0 || runs === undefined) {
    console.error(`${output.split('\n').slice(-60).join('\n')}\nfuzz ${name}: FAILED; the input is in ${kFindings}`);
    return false;
  }
  const found = readdirSync(corpus).length;
  if (found > kMostFiles) await minimise(name, corpus);
  console.log(
    `fuzz ${name}: ${runs} runs in ${seconds} s, ${readdirSync(corpus).length} inputs kept${found > kMostFiles ? ` of ${found}` : ''}`,
  );
  return true;
}

async function minimise(name, corpus) {
  const merged = mkdtempSync(`${corpus}.merged-`);
  const { status } = await runProgram(name, ['-merge=1', `-max_len=${kTargets[name]}`, merged, corpus]);
  rmSync(status === 0 ? corpus : merged, { recursive: true, force: true });
  if (status === 0) renameSync(merged, corpus);
}

function seeds(name) {
  const folder = join(root, 'tests/fuzz/corpus');
  return readdirSync(folder).includes(name) ? [join(folder, name)] : [];
}

function runProgram(name, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(join(root, `build/native-fuzz/${name}_fuzz`), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (text) => {
      output = (output + text).slice(-100_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, output }));
  });
}

function parseOptions() {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, targets: { type: 'string' } } });
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error('--seconds is a whole number of at least 1');
  const targets = values.targets?.split(',');
  const unknown = targets?.find((name) => !(name in kTargets));
  if (unknown !== undefined) throw new Error(`no target '${unknown}'; there are ${Object.keys(kTargets).join(', ')}`);
  return { seconds, targets };
}

async function main() {
  const options = parseOptions();
  await setup();
  const { passed, failed } = await runFuzzers(options);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exit(1);
}

await runAsProgram(import.meta.url, main);
