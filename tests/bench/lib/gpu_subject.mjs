// Measures on a GPU, in Node or in a page: Peruse, onnxruntime-web with its WebGPU provider, and the adapter's peak rate. Counts WebGPU
// calls by wrapping the methods of its classes.

const kWarmUpCalls = 3;
const kRounds = { least: 5, most: 50 };
const kSeconds = 3; // to share among the subjects of one length, where calls are short

export function countCalls(classes) {
  const counts = { dispatches: 0, submits: 0, buffers: 0, bufferBytes: 0 };
  const wrap = (name, method, count) => {
    const own = classes[name].prototype[method];
    classes[name].prototype[method] = function (...all) {
      count(...all);
      return own.apply(this, all);
    };
  };
  wrap('GPUComputePassEncoder', 'dispatchWorkgroups', () => {
    counts.dispatches++;
  });
  wrap('GPUComputePassEncoder', 'dispatchWorkgroupsIndirect', () => {
    counts.dispatches++;
  });
  wrap('GPUQueue', 'submit', () => {
    counts.submits++;
  });
  wrap('GPUDevice', 'createBuffer', ({ size }) => {
    counts.buffers++;
    counts.bufferBytes += size;
  });
  return counts;
}

export async function measurePeak(gpu) {
  const device = await (await gpu.requestAdapter({ powerPreference: 'high-performance' })).requestDevice();
  const kChains = 8;
  const names = Array.from({ length: kChains }, (_, i) => `a${i}`);
  const code = `
override ROUNDS: u32 = 64u;
@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let m = vec4f(0.5 + f32(id.x) * 1e-9);
  ${names.map((name, i) => `var ${name} = vec4f(${i}.0);`).join(' ')}
  for (var i = 0u; i < ROUNDS; i++) { ${names.map((name) => `${name} = fma(${name}, m, m);`).join(' ')} }
  out[id.x % 4096u] = ${names.join(' + ')};
}`;
  const out = device.createBuffer({ size: 65536, usage: 0x80 });
  const module = device.createShaderModule({ code });
  let best = 0;
  for (let rounds = 256, seconds = 0; seconds < 0.1; rounds *= 2) {
    const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module, constants: { ROUNDS: rounds } } });
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer: out } }] });
    const run = async () => {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(1024);
      pass.end();
      const start = performance.now();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / 1000;
    };
    await run();
    seconds = Math.min(await run(), await run());
    best = Math.max(best, (1024 * 64 * rounds * kChains * 4 * 2) / seconds);
  }
  device.destroy();
  return best;
}

/**
 * Times calls of the subjects ({ name, run(ids) }) in turns, with one text of each length, and counts the WebGPU calls of one of them. Returns by
 * name and length { times, asked }, in seconds.
 */
export async function measureInTurns(subjects, batches, counts) {
  const measured = Object.fromEntries(subjects.map(({ name }) => [name, {}]));
  for (const [length, ids] of Object.entries(batches)) {
    for (const { name, run } of subjects) {
      for (let call = 0; call < kWarmUpCalls; ++call) await run(ids);
      const before = { ...counts };
      await run(ids);
      const asked = Object.fromEntries(Object.keys(counts).map((key) => [key, counts[key] - before[key]]));
      measured[name][length] = { times: [], asked };
    }
    const start = performance.now();
    for (let round = 0; round < kRounds.least || (round < kRounds.most && performance.now() - start < kSeconds * 1000); ++round) {
      for (const { name, run } of subjects) {
        const begin = performance.now();
        await run(ids);
        measured[name][length].times.push((performance.now() - begin) / 1000);
      }
    }
  }
  return measured;
}

export function idTokenizer(vocabulary) {
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: null,
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: 't0',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(Array.from({ length: vocabulary }, (_, id) => [`t${id}`, id])),
    },
  });
}

/** Names of the ONNX precisions that an adapter computes. */
export async function onnxPrecisions(gpu) {
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  return adapter.features.has('shader-f16') ? ['fp32', 'fp16'] : ['fp32'];
}

/** Loads a model in Peruse: { run, seconds, gpu, bufferBytes, close }. */
export async function openPeruse(pipeline, { files, dtype }, counts) {
  const before = counts.bufferBytes;
  const start = performance.now();
  const classify = await pipeline('text-classification', files, { device: 'webgpu', dtype, worker: false });
  return {
    run: (ids) => classify(ids.map((id) => `t${id}`).join(' ')),
    seconds: (performance.now() - start) / 1000,
    gpu: classify.info.gpu,
    bufferBytes: counts.bufferBytes - before,
    close: () => classify.dispose(),
  };
}

/** Loads the same model's ONNX file in onnxruntime-web. */
export async function openOrt(ort, onnx, counts) {
  const before = counts.bufferBytes;
  const start = performance.now();
  const session = await ort.InferenceSession.create(onnx, { executionProviders: ['webgpu'], graphOptimizationLevel: 'all' });
  return {
    run: (ids) => {
      const shape = [1, ids.length];
      return session.run({
        input_ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
        attention_mask: new ort.Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      });
    },
    seconds: (performance.now() - start) / 1000,
    bufferBytes: counts.bufferBytes - before,
    close: () => session.release(),
  };
}

/**
 * Measures one shape on this runtime's GPU: Peruse in each precision, and onnxruntime-web with each file of `onnx` ({ fp32, fp16 }, bytes), if
 * `ort` is given. Returns a list of { library, dtype, gpu, seconds, bufferBytes, lengths }, or { library, dtype, failure, lengths: {} } for a file
 * that onnxruntime-web cannot load.
 */
export async function measureShape({ pipeline, ort, onnx, config, weights, dtypes, batches, counts }) {
  const files = {
    'config.json': config,
    'tokenizer.json': idTokenizer(JSON.parse(new TextDecoder().decode(config)).vocab_size),
    'model.safetensors': weights,
  };
  const subjects = [];
  const failed = [];
  for (const dtype of dtypes) {
    const opened = await openPeruse(pipeline, { files, dtype }, counts);
    subjects.push({ name: `peruse ${dtype}`, library: 'peruse', dtype, ...opened });
  }
  for (const [dtype, bytes] of ort ? Object.entries(onnx) : []) {
    try {
      subjects.push({ name: `ort ${dtype}`, library: 'ort', dtype, ...(await openOrt(ort, bytes, counts)) });
    } catch (error) {
      failed.push({ library: 'ort', dtype, failure: String(error?.message ?? error), lengths: {} });
    }
  }
  const measured = await measureInTurns(subjects, batches, counts);
  for (const { close } of subjects) await close();
  const found = subjects.map(({ name, library, dtype, gpu, seconds, bufferBytes }) => ({
    library,
    dtype,
    gpu,
    seconds,
    bufferBytes,
    lengths: measured[name],
  }));
  return [...found, ...failed];
}
