// A tool whose engine is a compiled module of embedded bytes: one thread, no other file, nothing compiled twice.
import build from 'engine/peruse-simd.wasm';
import { pipeline } from 'peruse';

const [model, text] = process.argv.slice(-2);
const wasmModule = new WebAssembly.Module(build);
pipeline('text-classification', model, { wasm_module: wasmModule, variant: 'simd' }).then(async (classify) => {
  const [{ label }] = await classify(text);
  console.log(JSON.stringify({ label, variant: classify.info.variant }));
  await classify.dispose();
});
