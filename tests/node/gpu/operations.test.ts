// Runs a part of the operation cases and goldens on the WebGPU backend, with every operation and family, because SwiftShader compiles slowly.
// All of them: node tests/node/gpu/with_swiftshader.mjs node tests/node/gpu/run_gpu_tests.mjs build/wasm-simd/peruse_gpu_tests.mjs
import { describe, expect, test } from 'vitest';
import { runGoogleTests } from './google_tests.js';
import { shaders } from './shader_names.mjs';

const compiled = new Set<string>();

async function run(filter: string): Promise<number> {
  const { passed, shaders } = await runGoogleTests(filter);
  for (const name of shaders) compiled.add(name);
  return passed;
}

// SwiftShader compiles on one thread, so two processes take half as long.
describe.concurrent('on the GPU', () => {
  test('operations agree with the reference', async () => {
    const passed = await run(
      [
        'BackendTest.*',
        'GpuQuantize.*',
        'DispatchCount.*',
        '*Linear_5_cols*',
        '*Linear_1_2_3_17*',
        '*Norm*_1_2_3_17*',
        '*LayerNorm_*',
        '*AddNorm_4*',
        '*RmsNorm*',
        '*Attention_40_1_13*',
        '*Attention_1_2_3_17_cols36*',
        '*Conv*_5_40*',
        '*Conv1d*groups*',
        '*SpanConv_1_2_3_17*kernel9*',
        '*LinearSpanConv_19*',
        '*LinearSpanConv_1_15_33*cols64*',
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
        'GpuLimits.*',
        '-GpuLimits.OtherTilesGiveTheSameBits', // equal_bits.test.ts
        'GpuLimits.PackedDotProductsGiveTheSameBits',
      ].join(':'),
    );
    expect(passed).toBeGreaterThan(150);
  });

  test('tiny checkpoints of every family agree with the reference library', async () => {
    const passed = await run(
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
        'eurobert_sequence',
        'gemma3_sequence',
        'qwen3_sequence',
      ]
        .map((name) => `Tiny/*webgpu_${name}`)
        .join(':'),
    );
    expect(passed).toBe(78); // three for each checkpoint
  });
});

test('the tests above run every shader', () => {
  expect([...compiled].sort()).toEqual([...shaders().values()].sort());
});
