// npm run bench -- --device webgpu: times each shape in Node with Dawn, and in Chromium also with onnxruntime-web's WebGPU provider. On a
// software adapter (the default; PERUSE_GPU=own uses the machine's) only counts and ratios are meaningful.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../../tools/setup/root.mjs';
import { openPage } from './chromium.mjs';
import { exportOnnx, modelsDir, randomModel } from './prepare.mjs';
import { batchOf, shapeConfig } from './shapes.mjs';
import { median } from './statistics.mjs';

const kPrecisions = ['fp16', 'fp32', 'q8'];
const kOwn = process.env.PERUSE_GPU === 'own';
const kFlags = ['--enable-unsafe-webgpu', ...(kOwn ? ['--enable-features=Vulkan'] : ['--use-webgpu-adapter=swiftshader'])];

export async function measureOnGpu(options, environment, report) {
  const batches = Object.fromEntries(options.lengths.filter((name) => Number(name) > 0).map((name) => [name, batchOf(name)[0]]));
  const rows = [];
  const take = (measured) => {
    rows.push(...measured);
    report(measured);
  };
  for (const shape of options.shapes) {
    const folder = await randomModel(shape);
    const onnx = options.ort ? (await exportOnnx(folder, options.task)).f32 : undefined;
    for (const dtype of kPrecisions) {
      process.stderr.write(`${shape} ${dtype} over Dawn ...\n`);
      const { peak, ...found } = inNode({ folder, dtype, batches });
      take(rowsOf({ shape, runtime: 'node', library: 'peruse', dtype, peak }, found, batches));
    }
    process.stderr.write(`${shape} in Chromium ...\n`);
    take(await inChromium(environment, { shape, folder, onnx, batches }));
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
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

async function inChromium(environment, { shape, folder, onnx, batches }) {
  const ortFolder = join(root, 'tests/bench/node_modules/onnxruntime-web/dist');
  const stage = await openPage(
    environment.chromium.path,
    {
      '/bench/': join(root, 'tests/bench'),
      '/web/': join(root, 'web'),
      '/models/': modelsDir,
      '/ort/': ortFolder,
    },
    kFlags,
  );
  const url = (file) => file.replace(modelsDir, '/models');
  const run = (library, dtype) =>
    stage.page.evaluate(
      async ({ library, dtype, folder, onnx, batches }) => {
        const { countCalls, idTokenizer, measureOrt, measurePeak, measurePeruse } = await import('/bench/lib/gpu_subject.mjs');
        window.peak ??= await measurePeak(navigator.gpu);
        window.counts ??= countCalls(window);
        const bytes = async (file) => new Uint8Array(await (await fetch(file)).arrayBuffer());
        if (library === 'ort') {
          const ort = await import('/ort/ort.webgpu.min.mjs');
          ort.env.wasm.wasmPaths = '/ort/';
          ort.env.logLevel = 'error';
          return { peak: window.peak, ...(await measureOrt(ort, { onnx: await bytes(onnx), batches }, window.counts)) };
        }
        const { pipeline } = await import('/web/bundle/peruse.js');
        const config = await bytes(`${folder}/config.json`);
        const files = {
          'config.json': config,
          'tokenizer.json': idTokenizer(JSON.parse(new TextDecoder().decode(config)).vocab_size),
          'model.safetensors': await bytes(`${folder}/model.safetensors`),
        };
        return { peak: window.peak, ...(await measurePeruse(pipeline, { files, dtype, batches }, window.counts)) };
      },
      { library, dtype, folder: url(folder), onnx: onnx && url(onnx), batches },
    );
  try {
    const rows = [];
    const subjects = kPrecisions.map((dtype) => ['peruse', dtype]);
    for (const [library, dtype] of [...subjects, ...(onnx ? [['ort', 'fp32']] : [])]) {
      const { peak, ...found } = await run(library, dtype);
      rows.push(...rowsOf({ shape, runtime: 'chromium', library, dtype, peak }, found, batches));
    }
    return rows.map((row) => ({ ...row, overOrt: ratio(row, rows) }));
  } finally {
    await stage.close();
  }
}

function ratio(row, rows) {
  const ort = rows.find(({ library, length }) => library === 'ort' && length === row.length);
  return ort && row.library === 'peruse' ? ort.milliseconds / row.milliseconds : undefined;
}

function rowsOf({ peak, ...what }, { lengths, gpu, seconds, bufferBytes }, batches) {
  return Object.entries(lengths).map(([length, { times, asked }]) => {
    const operations = operationsOf(shapeConfig(what.shape), batches[length].length);
    const rate = operations / median(times);
    return {
      ...what,
      adapter: gpu?.description,
      length,
      milliseconds: median(times) * 1000,
      loadSeconds: seconds,
      ...asked,
      heldBytes: bufferBytes,
      gigaflops: rate / 1e9,
      peakShare: rate / peak,
    };
  });
}

function operationsOf(config, tokens) {
  const { hidden_size: hidden, intermediate_size: wide, num_hidden_layers: layers } = config;
  const feedForward = (4 * tokens * hidden * wide) / (config.num_groups ?? 1);
  const output = 2 * tokens * hidden * hidden;
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
    'share of peak',
    'x ort',
  ];
  console.log(`\n| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|`);
  for (const row of rows) {
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
      `${(100 * row.peakShare).toFixed(0)} %`,
      row.overOrt?.toFixed(2) ?? '',
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
