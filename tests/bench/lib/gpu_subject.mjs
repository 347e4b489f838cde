// Measures on a GPU, in Node or in a page: Peruse, onnxruntime-web with its WebGPU provider, and the adapter's peak rate. Counts WebGPU
// calls by wrapping the methods of its classes.

const kTimedRounds = 5;

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

/** Times repeated calls with one text of each length, and counts the WebGPU calls of one of them. */
export async function measureCalls(run, counts) {
  await run();
  const before = { ...counts };
  await run();
  const asked = Object.fromEntries(Object.keys(counts).map((name) => [name, counts[name] - before[name]]));
  const times = [];
  for (let round = 0; round < kTimedRounds; ++round) {
    const start = performance.now();
    await run();
    times.push((performance.now() - start) / 1000);
  }
  return { times, asked };
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

export async function measurePeruse(pipeline, { files, dtype, batches }, counts) {
  const before = counts.bufferBytes;
  const start = performance.now();
  const classify = await pipeline('text-classification', files, { device: 'webgpu', dtype, worker: false });
  const seconds = (performance.now() - start) / 1000;
  const { gpu } = classify.info;
  const lengths = {};
  try {
    for (const [name, ids] of Object.entries(batches)) {
      const text = ids.map((id) => `t${id}`).join(' ');
      lengths[name] = await measureCalls(() => classify(text), counts);
    }
    return { seconds, gpu, lengths, bufferBytes: counts.bufferBytes - before };
  } finally {
    await classify.dispose();
  }
}

export async function measureOrt(ort, { onnx, batches }, counts) {
  const before = counts.bufferBytes;
  const start = performance.now();
  const session = await ort.InferenceSession.create(onnx, { executionProviders: ['webgpu'], graphOptimizationLevel: 'all' });
  const seconds = (performance.now() - start) / 1000;
  const lengths = {};
  for (const [name, ids] of Object.entries(batches)) {
    const shape = [1, ids.length];
    const feeds = {
      input_ids: new ort.Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
      attention_mask: new ort.Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
    };
    lengths[name] = await measureCalls(() => session.run(feeds), counts);
  }
  return { seconds, lengths, bufferBytes: counts.bufferBytes - before };
}
