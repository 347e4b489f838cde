// int8 linear layers give the same bits with and without relaxed SIMD. tests/native/cpu/int8_bits_test.cc has the same hashes.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

interface Bits {
  path: 'sdot' | 'usdot' | 'i16';
  rows: number;
  linears: number;
}

function bitsOf(variant: 'simd' | 'relaxed'): Bits {
  const program = fileURLToPath(new URL(`../../build/wasm-${variant}/int8_bits.cjs`, import.meta.url));
  const flags = Number(process.versions.node.split('.')[0]) < 22 ? ['--experimental-wasm-relaxed-simd'] : [];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, program], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout) as Bits;
}

test('the builds agree to the bit', () => {
  const simd = bitsOf('simd');
  const relaxed = bitsOf('relaxed');
  expect(simd.path).toBe('i16');
  expect(['sdot', 'usdot', 'i16']).toContain(relaxed.path);
  expect({ ...relaxed, path: 'i16' }).toEqual(simd);
});
