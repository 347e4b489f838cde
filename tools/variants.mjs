// The WebAssembly builds of the engine, and their JavaScript loaders.

/** The first four compute on the CPU. The others compute on a GPU, tokenize, or train. */
export const kVariants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads', 'webgpu', 'tokenizer', 'teach', 'teach-threads'];

/** The build for Chrome, Edge and Firefox on an isolated page with two processors, enough to show the demo page. */
export const kFirstVariants = ['relaxed-threads'];

/** Modules built with one of the first four: preset and target. */
export const kBeside = {
  webgpu: ['wasm-simd', 'peruse_webgpu'],
  tokenizer: ['wasm-simd', 'peruse_tokenizer'],
  teach: ['wasm-simd', 'peruse_teach'],
  'teach-threads': ['wasm-simd-threads', 'peruse_teach'],
};

export function glueOf(variant) {
  if (variant in kBeside) return `glue-${variant}.mjs`;
  return variant.endsWith('-threads') ? 'glue-threads.mjs' : 'glue.mjs';
}
