// The tiles that core/backend/webgpu/tiles.cc chooses for Intel's GPUs, over every case of a product or of attention. Not in 'npm test', because SwiftShader
// compiles these pipelines for a minute.
import { expect, test } from 'vitest';
import { runGoogleTests } from './google_tests.js';

test('tiles for few registers give the same bits', async () => {
  const { passed } = await runGoogleTests('GpuLimits.FewRegistersGiveTheSameBits');
  expect(passed).toBe(1);
});
