// Tiles that core/backend/webgpu/tiles.cc chooses for Intel's and AMD's GPUs, over every case of a product or of attention. SwiftShader compiles
// these pipelines for minutes, so this test is not in 'npm test'.
import { expect, test } from 'vitest';
import { runGoogleTests } from './google_tests.js';

test('other tiles give the same bits', async () => {
  const { passed } = await runGoogleTests('GpuLimits.OtherTilesGiveTheSameBits');
  expect(passed).toBe(1);
});
