#!/usr/bin/env node
// npm run bench: how fast Peruse runs, against this machine's limit and against onnxruntime-web. docs/internals/benchmarks.md explains it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { buildLibrary } from '../../tools/build.mjs';
import { readEnvironment } from '../../tools/setup/cache.mjs';
import { runAsProgram } from '../../tools/setup/main_module.mjs';
import { setup } from '../../tools/setup.mjs';
import { kAllLengths, kBarLengths, measureAll } from './lib/campaign.mjs';
import { testDispatch } from './lib/dispatch.mjs';
import { measureOnGpu, printGpu } from './lib/gpu.mjs';
import { measureFirstAnswers, measureLoads } from './lib/loads.mjs';
import { checkPeers } from './lib/peers.mjs';
import { buildProgram, installPackages, nodeWithRelaxedSimd } from './lib/prepare.mjs';
import { printBars, printCells, printFirstAnswers, printLoads, printProfile } from './lib/report.mjs';
import { kBarShapes, kLargeShapes, kShapes } from './lib/shapes.mjs';
import { measureTeaching } from './lib/teach.mjs';

const kContinued = 'PERUSE_BENCH_CONTINUED';
const kLoadRounds = 5;

const kUsage = `npm run bench -- [options]
  --quick                 two shapes, two lengths, relaxed SIMD in Node only
  --bars                  only what the bars are about: Node, relaxed SIMD, 1 and 2 threads, f32 and q8, 128 and 384 tokens
  --profile               time by operation as well
  --dispatch              whether the kernels that are chosen on this machine are the fastest of those that a build has; fails where another is
                          more than a twentieth faster (wasm in Node; nothing else is measured)
  --loads                 from a file on the disk to the first answer, beside onnxruntime-web with its files, in Node and in a page
                          (nothing else is measured)
  --teach                 what teaching costs: a step beside a forward pass, natively, in wasm and, where PERUSE_BENCH_PYTHON names a Python
                          with PyTorch, in that; lessons of two labels by every method (nothing else is measured)
  --blocks                the cost of one block of each kind, by length (native; nothing else is measured)
  --shapes a,b            ${kShapes.join(',')};
                          only if named: ${kLargeShapes.join(',')}
  --lengths a,b           ${kAllLengths.join(',')},2048,windows: tokens of one text, or several texts (lib/shapes.mjs)
  --runtimes a,b          node,chromium,native
  --variants a,b          simd,relaxed
  --threads a,b           1,<half the logical processors, at least 2>
  --dtypes a,b            f16,f32,q8; default f32,q8, with --device webgpu all three, because 'auto' is float16 there
  --device webgpu         on a GPU, in Node over Dawn and in Chromium, instead of the CPU (docs/webgpu.md)
  --task name             text-classification (reads one row of the last layer) or question-answering (reads all)
  --rounds n              at least so many turns of everything (3, with --quick 2); more while there is time
  --minutes n             time to share among everything that is timed, besides loading
  --before folder         beside the builds of another checkout (an earlier commit), whose bench modules have been built
  --peers a,b             what else is timed: ort (onnxruntime-web; default), litert (LiteRT.js), ort-node (onnxruntime-node, native; in Node only)
  --no-ort                without any peer
  --no-load               without the table of load times
  --clock cpu             processor time instead of elapsed time, where a subject has one thread and the runtime tells
  --json file             everything measured, as JSON`;

function parseOptions() {
  const list = { type: 'string' };
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({
    options: {
      help: flag,
      quick: flag,
      bars: flag,
      profile: flag,
      blocks: flag,
      dispatch: flag,
      teach: flag,
      loads: flag,
      'no-ort': flag,
      peers: { type: 'string', default: 'ort' },
      'no-load': flag,
      shapes: list,
      lengths: list,
      runtimes: list,
      variants: list,
      threads: list,
      dtypes: list,
      task: { type: 'string', default: 'text-classification' },
      minutes: list,
      rounds: list,
      before: list,
      device: { type: 'string', default: 'cpu' },
      clock: { type: 'string', default: 'wall' },
      json: list,
    },
  });
  const choose = (name, all, quick, bars) => values[name]?.split(',') ?? (values.bars ? bars : values.quick ? quick : all);
  const several = String(Math.max(2, Math.floor(cpus().length / 2)));
  return {
    ...values,
    shapes: choose('shapes', kShapes, ['convbert_small', 'deberta_v3_xsmall'], kBarShapes),
    lengths: choose('lengths', kAllLengths, ['16', '128'], kBarLengths),
    runtimes: choose('runtimes', ['node', 'chromium', 'native'], ['node'], ['node']),
    variants: choose('variants', ['simd', 'relaxed'], ['relaxed'], ['relaxed']),
    threads: choose('threads', ['1', several], ['1', several], ['1', several]).map(Number),
    dtypes: choose('dtypes', values.device === 'webgpu' ? ['f16', 'f32', 'q8'] : ['f32', 'q8'], ['f32'], ['f32', 'q8']),
    minutes: Number(values.minutes ?? (values.quick ? 1 : values.bars ? 6 : 30)),
    rounds: Number(values.rounds ?? (values.quick ? 2 : 3)),
    ort: !values['no-ort'],
    peers: values['no-ort'] ? [] : values.peers.split(','),
    load: !values['no-load'] && !values.bars,
  };
}

function continueInNewerNode() {
  const node = nodeWithRelaxedSimd();
  const { status, error } = spawnSync(node, process.argv.slice(1), { stdio: 'inherit', env: { ...process.env, [kContinued]: '1' } });
  if (error) throw new Error(`Node ${process.version} has no relaxed SIMD, and ${node} does not run: ${error.message}`);
  process.exit(status ?? 1);
}

async function main() {
  const options = parseOptions();
  if (options.help) return console.log(kUsage);
  checkPeers(options.peers, options.lengths);
  // Set-up runs in the Node of all tools, because Emscripten is configured for it.
  const environment = process.env[kContinued] ? readEnvironment() : await setup();
  if (options.blocks) {
    const program = await buildProgram('blocks_bench');
    return void spawnSync(program, [], { stdio: 'inherit' });
  }
  if (options.teach) return await measureTeaching();
  if (options.dispatch) {
    if (!(await testDispatch(options.variants))) throw new Error('Another kernel is faster than the one that is chosen.');
    return;
  }
  await installPackages({ peers: options.peers.some((peer) => peer !== 'ort') });
  if (process.execPath !== nodeWithRelaxedSimd()) continueInNewerNode();

  if (options.device === 'webgpu') {
    await buildLibrary();
    const rows = await measureOnGpu(options, environment, printGpu);
    if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 1));
    return;
  }
  if (options.loads) {
    const rows = await measureFirstAnswers({ ...options, rounds: kLoadRounds }, environment);
    printFirstAnswers(rows);
    if (options.json) writeFileSync(options.json, JSON.stringify(rows, null, 1));
    return;
  }
  const loads = options.load ? await measureLoads(options) : [];
  printLoads(loads);
  const cells = await measureAll(options, environment, (measured) => {
    printCells(measured);
    if (options.profile) printProfile(measured);
  });
  if (options.bars) printBars(cells);
  if (options.json) writeFileSync(options.json, JSON.stringify({ node: process.version, loads, cells }, null, 1));
}

await runAsProgram(import.meta.url, main);
