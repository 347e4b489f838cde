// Loads the ONNX reader in browsers by its address, as the GPU's part. The training worker loads it, too, but not the engine of the other file.
import type { OnnxPart } from '../sources/onnx_part.js';

const kPart = Symbol.for('peruse.onnx'); // set by onnx/onnx_script.ts

export async function importOnnx(): Promise<OnnxPart> {
  const scope = globalThis as unknown as Record<symbol, OnnxPart | undefined>;
  if (!scope[kPart]) {
    const { href } = new URL('./peruse-onnx.js', import.meta.url); // this form lets bundlers find the file
    await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
    if (!scope[kPart]) throw new Error(`${href} is not the reader of ONNX files.`);
  }
  return scope[kPart];
}
