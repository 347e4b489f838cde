// Detects WebAssembly features by validating tiny modules, without compiling or running them.
import type { Features } from './variant.js';

const kHeader = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

// (module (func (result v128) (i8x16.popcnt (i8x16.splat (i32.const 0)))))
const kSimd = [...kHeader, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, 10, 1, 8, 0, 0x41, 0, 0xfd, 15, 0xfd, 98, 11];

// (module (func (result v128) (i8x16.relaxed_swizzle (i8x16.splat (i32.const 1)) (i8x16.splat (i32.const 2)))))
const kRelaxedSimd = [
  ...kHeader,
  1,
  5,
  1,
  0x60,
  0,
  1,
  0x7b,
  3,
  2,
  1,
  0,
  10,
  15,
  1,
  13,
  0,
  0x41,
  1,
  0xfd,
  15,
  0x41,
  2,
  0xfd,
  15,
  0xfd,
  0x80,
  2,
  11,
];

// (module (memory 1 1 shared) (func (drop (i32.atomic.load (i32.const 0)))))
const kThreads = [...kHeader, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 5, 4, 1, 3, 1, 1, 10, 11, 1, 9, 0, 0x41, 0, 0xfe, 16, 2, 0, 0x1a, 11];

function validates(bytes: number[]): boolean {
  return WebAssembly.validate(new Uint8Array(bytes));
}

export function detectFeatures(environment: { inWorker: boolean; processors: number; sharedMemory: boolean }): Features {
  const wasm = typeof WebAssembly === 'object' && typeof WebAssembly.validate === 'function';
  return {
    wasm,
    simd: wasm && validates(kSimd),
    relaxedSimd: wasm && validates(kRelaxedSimd),
    threads: wasm && validates(kThreads),
    sharedMemory: environment.sharedMemory && typeof SharedArrayBuffer === 'function',
    mayBlock: environment.inWorker,
    processors: Math.max(1, Math.floor(environment.processors) || 1),
  };
}
