// npm run bench -- --device webgpu: times each shape next to onnxruntime-web's WebGPU provider, in Node with Dawn and in Chromium. On a software
// adapter (the default; PERUSE_GPU=own uses the machine's) only counts and ratios are meaningful.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../../tools/setup/root.mjs';
import { openPage } from './chromium.mjs';
import { printKernels } from './gpu_profile.mjs';
import { exportOnnx, modelOf, modelsDir } from './prepare.mjs';
import { batchOf, shapeConfig } from './shapes.mjs';
import { kOrt } from './stage.mjs';
import { median, medianRatio } from './statistics.mjs';

const kPrecisions = { f16: 'fp16', f32: 'fp32', q8: 'q8' };
const kOwn = process.env.PERUSE_GPU === 'own';
const kFlags = ['--enable-unsafe-webgpu', ...(kOwn ? ['--enable-features=Vulkan'] : ['--use-webgpu-adapter=swiftshader'])];

export async function measureOnGpu(options, environment, report) {
  const batches = Object.fromEntries(options.lengths.filter((name) => Number(name) > 0).map((name) => [name, batchOf(name)[0]]));
  const dtypes = options.dtypes.map((name) => kPrecisions[name]);
  const rows = [];
  for (const shape of options.shapes) {
    const folder = await modelOf(shape);
    const exported = options.ort ? await exportOnnx(folder, options.task, { half: true }) : undefined;
    const onnx = exported && { fp32: exported.f32, fp16: exported.f16 };
    const request = { folder, onnx, dtypes, batches };
    for (const runtime of options.runtimes.filter((name) => name !== 'native')) {
      process.stderr.write(`${shape} in ${runtime} ...\n`);
      const { peak, found } = runtime === 'node' ? inNode(request) : await inChromium(environment, request);
      const measured = found.flatMap((subject) => rowsOf({ shape, runtime, peak }, subject, found, batches));
      rows.push(...measured);
      report(measured);
    }
    if (options.profile) {
      const kernels = inNode({ ...request, profile: true }).found.map((found) => ({ shape, ...found }));
      rows.push(...kernels);
      printKernels(kernels);
    }
  }
  return rows;
}

function inNode(request) {
  const program = [join(root, 'tests/bench/lib/gpu_node.mjs'), JSON.stringify(request)];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'tests/node/gpu/with_swiftshader.mjs'), process.execPath, ...program],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 26,
    },
  );
  if (status !== 0) throw new Error(stderr || stdout);
  process.stderr.write(stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

async function inChromium(environment, { folder, onnx, dtypes, batches }) {
  const stage = await openPage(
    environment.chromium.path,
    {
      '/bench/': join(root, 'tests/bench'),
      '/web/': join(root, 'web'),
      '/models/': modelsDir,
      '/ort/': kOrt,
    },
    kFlags,
  );
  const url = (file) => file.replace(modelsDir, '/models');
  const urls = onnx && Object.fromEntries(Object.entries(onnx).map(([dtype, file]) => [dtype, url(file)]));
  try {
    return await stage.page.evaluate(
      async ({ folder, onnx, dtypes, batches }) => {
        const { countCalls, measurePeak, measureShape, onnxPrecisions } = await import('/bench/lib/gpu_subject.mjs');
        const peak = await measurePeak(navigator.gpu);
        const counts = countCalls(window);
        const bytes = async (file) => new Uint8Array(await (await fetch(file)).arrayBuffer());
        const { pipeline } = await import('/web/bundle/peruse.js');
        let ort;
        const files = {};
        if (onnx !== undefined) {
          ort = await import('/ort/ort.webgpu.min.mjs');
          ort.env.wasm.wasmPaths = '/ort/';
          ort.env.logLevel = 'fatal';
          for (const dtype of await onnxPrecisions(navigator.gpu)) files[dtype] = await bytes(onnx[dtype]);
        }
        const config = await bytes(`${folder}/config.json`);
        const weights = await bytes(`${folder}/model.safetensors`);
        return {
          peak,
          found: await measureShape({ pipeline, ort, onnx: files, config, weights, dtypes, batches, counts }),
        };
      },
      { folder: url(folder), onnx: urls, dtypes, batches },
    );
  } finally {
    await stage.close();
  }
}

function rowsOf({ peak, ...what }, { library, dtype, gpu, seconds, bufferBytes, lengths, failure }, found, batches) {
  if (failure !== undefined) return [{ ...what, library, dtype, failure }];
  // The peer in the same precision, otherwise in float32.
  const peers = found.filter((other) => library === 'peruse' && other.library === 'ort' && other.failure === undefined);
  const ort = peers.find((other) => other.dtype === dtype) ?? peers[0];
  return Object.entries(lengths).map(([length, { times, asked }]) => {
    const rate = operationsOf(shapeConfig(what.shape), batches[length].length) / median(times);
    return {
      ...what,
      library,
      dtype,
      adapter: gpu?.description,
      length,
      milliseconds: median(times) * 1000,
      rounds: times.length,
      loadSeconds: seconds,
      ...asked,
      heldBytes: bufferBytes,
      gigaflops: rate / 1e9,
      peakShare: rate / peak,
      overOrt: ort && medianRatio(ort.lengths[length].times, times),
    };
  });
}

function operationsOf(config, tokens) {
  const { hidden_size: hidden, intermediate_size: wide, num_hidden_layers: layers } = config;
  const feedForward = (4 * tokens * hidden * wide) / (config.num_groups ?? 1);
  const output = 2 * tokens * hidden * hidden;
  if (config.model_type === 'modernbert') {
    const reach = (layer) => (layer % config.global_attn_every_n_layers === 0 ? tokens : Math.min(tokens, config.local_attention + 1));
    const attended = Array.from({ length: layers }, (_, layer) => 4 * tokens * reach(layer) * hidden).reduce((a, b) => a + b);
    return layers * (8 * tokens * hidden * hidden + 6 * tokens * hidden * wide) + attended;
  }
  if (config.model_type === 'convbert') {
    const half = hidden / config.head_ratio;
    const taps = (config.num_attention_heads / config.head_ratio) * config.conv_kernel_size;
    return layers * (feedForward + output + 2 * tokens * half * (4 * hidden + hidden + taps) + 4 * tokens * tokens * half);
  }
  const slots = Math.min(2 * tokens - 1, 2 * (config.position_buckets ?? config.max_relative_positions ?? tokens));
  return layers * (feedForward + output + 6 * tokens * hidden * hidden + 4 * tokens * tokens * hidden + 4 * tokens * slots * hidden);
}

export function printGpu(rows) {
  const columns = [
    'shape',
    'tokens',
    'runtime',
    'library',
    'dtype',
    'ms',
    'dispatches',
    'submits',
    'new buffers',
    'weights MB',
    'load s',
    'share of peak',
    'x ort',
  ];
  console.log(`\n| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|`);
  for (const row of rows) {
    if (row.failure !== undefined) {
      console.log(`| ${row.shape} | | ${row.runtime} | ${row.library} | ${row.dtype} | failed: ${row.failure.replace(/\s+/g, ' ')} |`);
      continue;
    }
    const cells = [
      row.shape,
      row.length,
      row.runtime,
      row.library,
      row.dtype,
      row.milliseconds.toFixed(1),
      row.dispatches,
      row.submits,
      row.buffers,
      (row.heldBytes / 1e6).toFixed(1),
      row.loadSeconds.toFixed(2),
      `${(100 * row.peakShare).toFixed(0)} %`,
      row.overOrt?.toFixed(2) ?? '',
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
