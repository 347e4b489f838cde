// Runs a part of the operation cases and goldens on the WebGPU backend, with every operation and family, because SwiftShader compiles slowly.
// All of them: node tests/node/gpu/with_swiftshader.mjs node tests/node/gpu/run_gpu_tests.mjs build/wasm-simd/peruse_gpu_tests.mjs
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { shaders } from './shader_names.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const program = `${root}build/wasm-simd/peruse_gpu_tests.mjs`;
const runner = fileURLToPath(new URL('run_gpu_tests.mjs', import.meta.url));

const compiled = new Set<string>();

async function runGoogleTests(filter: string): Promise<{ passed: number }> {
  expect(existsSync(program), `${program}: ninja -C build/wasm-simd peruse_gpu_tests builds it`).toBe(true);
  const run = promisify(execFile)(process.execPath, [runner, program, `--gtest_filter=${filter}`, '--gtest_brief=1'], { maxBuffer: 1e9 });
  const { code, stdout, stderr } = await run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  const output = stdout + stderr;
  expect(code, output.slice(-4000)).toBe(0);
  for (const name of /pipelines of the shaders (.*)/.exec(output)![1]!.split(', ')) compiled.add(name);
  return { passed: Number(/\[ {2}PASSED {2}\] (\d+) tests?/.exec(output)?.[1] ?? 0) };
}

// SwiftShader compiles on one thread, so two processes take half as long.
describe.concurrent('on the GPU', () => {
  test('operations agree with the reference', async () => {
    const { passed } = await runGoogleTests(
      [
        'BackendTest.*',
        'GpuLimits.*',
        'GpuQuantize.*',
        'DispatchCount.*',
        '*Linear_5_cols*',
        '*Linear_1_2_3_17*',
        '*Norm*_1_2_3_17*',
        '*LayerNorm_*',
        '*AddNorm_4*',
        '*Attention_40_1_13*',
        '*Attention_1_2_3_17_cols36*',
        '*Conv*_5_40*',
        '*Conv1d*groups*',
        '*SpanConv_1_2_3_17*kernel9*',
        '*LinearSpanConv_19*',
        'WarmRun.*',
        '*Multiply*',
        '*Add_*',
        '*SelectRows*',
        '*Activate_40*',
        '*Rotate*',
        '*Gate*',
        '*WindowedAttention_64*',
        '*Lstm_9_cols33*',
        '*LstmReverse*',
        '*PoolRows*_9_cols33*',
        '*PoolRows*_1_2_3_17*',
        '*CrossAttention*',
      ].join(':'),
    );
    expect(passed).toBeGreaterThan(150);
  });

  test('tiny checkpoints of every family agree with the reference library', async () => {
    const { passed } = await runGoogleTests(
      [
        'bert_sequence',
        'bert_relative_key_query',
        'bert_laplace',
        'bert_leaky_relu',
        'bert_relu2',
        'electra_rtd',
        'electra_choice_mean',
        'convbert_sequence',
        'convbert_groups2',
        'convbert_choice_mean',
        'deberta_v1_sequence',
        'deberta_v2_question',
        'deberta_v2_conv',
        'deberta_v2_masked_lm_emd',
        'deberta_v2_own_keys',
        'deberta_v2_falling_buckets',
        'deberta_v2_one_distance',
        'modernbert_sequence',
        'albert_sequence',
        'nomic_bert_sequence',
        'gte_token',
        'jina_bert_sequence',
        'jina_bert_normed',
      ]
        .map((name) => `Tiny/*webgpu_${name}`)
        .join(':'),
    );
    expect(passed).toBe(69); // three for each checkpoint
  });
});

test('the tests above run every shader', () => {
  expect([...compiled].sort()).toEqual([...shaders().values()].sort());
});
