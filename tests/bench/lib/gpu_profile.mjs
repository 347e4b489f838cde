// How long the GPU computes each kernel: every dispatch gets a pass of its own with two timestamps. A pass costs some microseconds, so sums are
// larger than a call takes without the profile; compare kernels with each other. Dawn rounds timestamps to 65,536 ns, and Peruse creates a Dawn
// instance of its own, without the toggle that turns this off. Therefore results are means over many calls.
import { idTokenizer, openPeruse } from './gpu_subject.mjs';

const kMostDispatches = 2048; // a query set has at most 4,096 timestamps
const kCalls = 50;

/** Wraps WebGPU's classes. `shaders`: names by WGSL text (tests/node/gpu/shader_names.mjs). */
export function profileDispatches(classes, shaders) {
  const names = new WeakMap(); // of modules and pipelines
  const wrap = (type, method, make) => {
    const own = classes[type].prototype[method];
    classes[type].prototype[method] = function (...all) {
      return make.call(this, own, ...all);
    };
  };
  wrap('GPUAdapter', 'requestDevice', function (own, descriptor = {}) {
    return own.call(this, { ...descriptor, requiredFeatures: [...(descriptor.requiredFeatures ?? []), 'timestamp-query'] });
  });
  wrap('GPUDevice', 'createShaderModule', function (own, descriptor) {
    const module = own.call(this, descriptor);
    names.set(module, [...shaders].find(([text]) => descriptor.code.endsWith(text))?.[1] ?? 'unknown');
    return module;
  });
  wrap('GPUDevice', 'createComputePipelineAsync', async function (own, descriptor) {
    const pipeline = await own.call(this, descriptor);
    const { module, constants } = descriptor.compute;
    names.set(pipeline, `${names.get(module)} ${Object.values(constants ?? {}).join(' ')}`.trim());
    return pipeline;
  });
  let recording;
  wrap('GPUDevice', 'createCommandEncoder', function (own, ...all) {
    const encoder = own.apply(this, all);
    if (recording) recording.device = this;
    return encoder;
  });
  wrap('GPUCommandEncoder', 'beginComputePass', function (own, ...all) {
    return recording ? splitPass(this, own, recording, names) : own.apply(this, all);
  });

  async function measureCall(run) {
    recording = { dispatches: [] };
    await run();
    const { dispatches, device, queries } = recording;
    recording = undefined;
    const times = await readTimes(device, queries, dispatches.length);
    return dispatches.map((name, i) => ({ name, seconds: Number(times[2 * i + 1] - times[2 * i]) * 1e-9 }));
  }

  /** Returns the mean times of kernels by precision and length: { library, dtype, kernels: { length: { name: { count, seconds } } } }. */
  async function measure({ pipeline, config, weights, dtypes, batches, counts }) {
    const tokenizer = idTokenizer(JSON.parse(new TextDecoder().decode(config)).vocab_size);
    const files = { 'config.json': config, 'tokenizer.json': tokenizer, 'model.safetensors': weights };
    const found = [];
    for (const dtype of dtypes) {
      const { run, close } = await openPeruse(pipeline, { files, dtype }, counts);
      const kernels = {};
      for (const [length, ids] of Object.entries(batches)) {
        for (let call = 0; call < 3; ++call) await run(ids);
        const calls = [];
        for (let call = 0; call < kCalls; ++call) calls.push(await measureCall(() => run(ids)));
        kernels[length] = sumByName(calls);
      }
      await close();
      found.push({ library: 'peruse', dtype, kernels });
    }
    return found;
  }
  return { measure };
}

function splitPass(encoder, begin, recording, names) {
  const groups = new Map();
  let pipeline;
  return {
    setPipeline(next) {
      pipeline = next;
    },
    setBindGroup(index, ...group) {
      groups.set(index, group);
    },
    dispatchWorkgroups(...grid) {
      recording.queries ??= recording.device.createQuerySet({ type: 'timestamp', count: 2 * kMostDispatches });
      const i = recording.dispatches.push(names.get(pipeline)) - 1;
      const pass = begin.call(encoder, {
        timestampWrites: { querySet: recording.queries, beginningOfPassWriteIndex: 2 * i, endOfPassWriteIndex: 2 * i + 1 },
      });
      pass.setPipeline(pipeline);
      for (const [index, group] of groups) pass.setBindGroup(index, ...group);
      pass.dispatchWorkgroups(...grid);
      pass.end();
    },
    end() {},
  };
}

async function readTimes(device, queries, dispatches) {
  const size = 16 * dispatches;
  const resolved = device.createBuffer({ size, usage: 0x200 | 0x4 }); // query results, copied from
  const staging = device.createBuffer({ size, usage: 0x1 | 0x8 }); // mapped, copied to
  const encoder = device.createCommandEncoder();
  encoder.resolveQuerySet(queries, 0, 2 * dispatches, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(0x1);
  const times = new BigUint64Array(staging.getMappedRange().slice(0));
  for (const used of [resolved, staging, queries]) used.destroy();
  return times;
}

function sumByName(calls) {
  const kernels = {};
  calls[0].forEach(({ name }, i) => {
    kernels[name] ??= { count: 0, seconds: 0 };
    kernels[name].count++;
    kernels[name].seconds += calls.reduce((sum, call) => sum + call[i].seconds, 0) / calls.length;
  });
  return kernels;
}

export function printKernels(rows) {
  for (const { shape, dtype, kernels } of rows) {
    for (const [length, found] of Object.entries(kernels)) {
      const all = Object.values(found).reduce((sum, { seconds }) => sum + seconds, 0);
      console.log(`\n${shape}, ${dtype}, ${length} tokens: ${(all * 1000).toFixed(2)} ms in kernels\n`);
      console.log('| kernel and its constants | dispatches | ms | share |\n|---|---|---|---|');
      const sorted = Object.entries(found).sort(([, a], [, b]) => b.seconds - a.seconds);
      for (const [name, { count, seconds }] of sorted) {
        console.log(`| ${name} | ${count} | ${(seconds * 1000).toFixed(3)} | ${((100 * seconds) / all).toFixed(0)} % |`);
      }
    }
  }
}
