import { join, resolve } from 'node:path';
import { compareOutputs } from './compare.mjs';
import { measureBatch, speedQuartiles, speedRatio, summary } from './measure.mjs';
import { kPeerKinds } from './peers.mjs';
import { buildModule, buildProgram, modelOf } from './prepare.mjs';
import { batchOf, comparedTexts, shapeConfig, tokensOf } from './shapes.mjs';
import { openStage } from './stage.mjs';

export const kAllLengths = ['16', '64', '128', '384', '512', 'ragged', 'many']; // and '2048' and 'windows', which take minutes at base size
export const kBarLengths = ['128', '384'];

/** Returns results for each shape, runtime, length and subject; `report` receives those of one shape in one runtime. */
export async function measureAll(options, environment, report) {
  const builds = await buildAll(options);
  const cells = [];
  const start = performance.now();
  for (const [index, shape] of options.shapes.entries()) {
    const model = await prepareModel(shape, options);
    for (const [turn, runtime] of options.runtimes.entries()) {
      const parts = (options.shapes.length - index) * options.runtimes.length - turn;
      const seconds = Math.max(0, options.minutes * 60 - (performance.now() - start) / 1000) / parts;
      const measured = await measureShape({ shape, runtime, model, builds, seconds, options, environment });
      report(measured);
      cells.push(...measured);
    }
  }
  return cells;
}

async function buildAll({ runtimes, variants, threads, before }) {
  const builds = {};
  if (runtimes.includes('native')) builds.native = await buildProgram('bench_program');
  if (!runtimes.includes('node') && !runtimes.includes('chromium')) return builds;
  for (const variant of variants) {
    for (const count of threads) {
      const name = count > 1 ? `${variant}-threads` : variant;
      builds[name] ??= join(await buildModule(name), 'peruse_bench.mjs');
      if (before) builds[`before ${name}`] = resolve(before, 'build', `wasm-${name}`, 'peruse_bench.mjs');
    }
  }
  return builds;
}

async function prepareModel(shape, options) {
  const folder = await modelOf(shape);
  const peers = {};
  for (const peer of options.peers) peers[peer] = await kPeerKinds[peer].prepare(folder, options);
  return { folder, weights: join(folder, 'model.safetensors'), peers };
}

async function measureShape({ shape, runtime, model, builds, seconds, options, environment }) {
  const subjects = [];
  const stage = await openStage(runtime, environment);
  try {
    for (const plan of plans(runtime, options)) subjects.push(await startSubject(stage, plan, { shape, model, builds, options }));
    const loaded = subjects.filter(({ missing }) => !missing);
    const errors = await compareAll(loaded);
    const cells = [];
    for (const length of options.lengths) {
      process.stderr.write(`${runtime} ${shape} ${length} ...\n`);
      const measured = await measureBatch(loaded, batchOf(length), {
        seconds: seconds / options.lengths.length,
        rounds: options.rounds,
        clock: options.clock,
      });
      for (const subject of loaded) {
        const baseline = (other) => speedRatio(measured.get(subject.name), measured.get(other));
        const spread = (other) => speedQuartiles(measured.get(subject.name), measured.get(other));
        const { library, dtype, variant, threads } = subject;
        cells.push({
          runtime,
          shape,
          length,
          library,
          dtype,
          variant,
          threads,
          error: errors.get(subject.name),
          ...summary(measured.get(subject.name), tokensOf(length)),
          ...(library === 'peruse' && {
            overBefore: baseline(subjectName({ library: 'before', dtype, variant, threads })),
            over: Object.fromEntries(options.peers.map((peer) => [peer, baseline(subjectName({ library: peer, dtype, threads }))])),
            overQuartiles: Object.fromEntries(options.peers.map((peer) => [peer, spread(subjectName({ library: peer, dtype, threads }))])),
            overF32: dtype === 'f32' ? undefined : baseline(subjectName({ library, dtype: 'f32', variant, threads })),
            overF32Quartiles: dtype === 'f32' ? undefined : spread(subjectName({ library, dtype: 'f32', variant, threads })),
          }),
          overOneThread: threads > 1 ? baseline(subjectName({ library, dtype, variant, threads: 1 })) : undefined,
          overOneThreadQuartiles: threads > 1 ? spread(subjectName({ library, dtype, variant, threads: 1 })) : undefined,
          profile: options.profile && library === 'peruse' ? await profileOf(subject, batchOf(length)) : undefined,
        });
      }
    }
    return cells;
  } finally {
    for (const subject of subjects) await subject.close?.();
    await stage.close();
  }
}

const subjectName = ({ library, dtype, variant, threads }) => [library, variant, dtype, `x${threads}`].filter(Boolean).join(' ');

function plans(runtime, { variants, threads, dtypes, peers, before }) {
  const all = [];
  for (const count of threads) {
    for (const dtype of dtypes) {
      for (const variant of runtime === 'native' ? ['avx2'] : variants) {
        all.push({ library: 'peruse', variant, dtype, threads: count });
        // Only in Node, because the server for pages serves only this checkout.
        if (before && runtime === 'node') all.push({ library: 'before', variant, dtype, threads: count });
      }
      for (const peer of dtype === 'f16' ? [] : peers) {
        if (kPeerKinds[peer].runtimes.includes(runtime)) all.push({ library: peer, dtype, threads: count });
      }
    }
  }
  return all.map((plan) => ({ ...plan, name: subjectName(plan) }));
}

/** Starts a subject. Returns { missing } if its build lacks the precision. */
async function startSubject(stage, plan, { shape, model, builds, options }) {
  const { library, variant, threads, dtype } = plan;
  const peer = kPeerKinds[library];
  const build = `${library === 'before' ? 'before ' : ''}${variant}${threads > 1 ? '-threads' : ''}`;
  const subject = await stage.start(builds, {
    kind: peer ? library : 'peruse',
    threads,
    ...(peer ? peer.create(stage, model.peers[library]) : { url: stage.module?.(builds[build]) }),
  });
  const request = peer
    ? peer.load(stage, model.peers[library], dtype)
    : { config: shapeConfig(shape, { timed: true }), task: options.task, dtype, weights: stage.path(model.weights) };
  try {
    return { ...plan, ...subject, load: await subject.ask('load', request) };
  } catch (error) {
    await subject.close();
    if (!/does not hold weights as/.test(error.message)) throw error;
    process.stderr.write(`${plan.name}: ${error.message.split('\n')[0]}\n`);
    return { ...plan, missing: true };
  }
}

/** Errors of every subject's output against onnxruntime's f32, or without it against another's, by name. */
async function compareAll(subjects) {
  const reference =
    subjects.find(({ library, dtype }) => library === 'ort' && dtype === 'f32') ?? subjects.find(({ dtype }) => dtype === 'f32');
  const errors = new Map();
  if (!reference) return errors;
  for (const subject of subjects) {
    if (subject !== reference) errors.set(subject.name, await compareOutputs(subject, reference, comparedTexts()));
  }
  return errors;
}

async function profileOf(subject, ids) {
  await subject.ask('batch', { ids });
  return subject.ask('profile');
}
