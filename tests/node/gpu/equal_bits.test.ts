// Tiles that core/backend/webgpu/tiles.cc chooses for Intel's and AMD's GPUs, and WGSL's own products of int8, over every case. SwiftShader
// compiles these pipelines for minutes, so these tests are not in 'npm test'.
import { expect, test } from 'vitest';
import { runGoogleTests } from './google_tests.js';

test.each(['OtherTilesGiveTheSameBits', 'PackedDotProductsGiveTheSameBits'])('%s', async (name) => {
  const { passed } = await runGoogleTests(`GpuLimits.${name}`);
  expect(passed).toBe(1);
});
