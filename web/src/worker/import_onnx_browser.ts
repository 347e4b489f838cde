// Loads the reader of ONNX files in browsers: a script of its own, peruse-onnx.js, by its address, as the GPU's part is loaded.
import type { OnnxPart } from '../sources/onnx_part.js';

const kPart = Symbol.for('peruse.onnx'); // Set by onnx/onnx_script.ts.

export async function importOnnx(): Promise<OnnxPart> {
  const scope = globalThis as unknown as Record<symbol, OnnxPart | undefined>;
  if (!scope[kPart]) {
    const { href } = new URL('./peruse-onnx.js', import.meta.url); // Spelled out so that bundlers copy the file.
    await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
    if (!scope[kPart]) throw new Error(`${href} is not the reader of ONNX files.`);
  }
  return scope[kPart];
}
