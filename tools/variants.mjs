// The builds of the engine in wasm, and the glue by which JavaScript starts each.

/** The first four compute on the CPU. Of the others one computes on a GPU, one is the tokenizer alone, two train. */
export const kVariants = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads', 'webgpu', 'tokenizer', 'teach', 'teach-threads'];

/** What Chrome, Edge and Firefox take where there are two processors and threads: a page is worth seeing with it. */
export const kFirstVariants = ['relaxed-threads'];

/** What is made with one of the first four: in which preset, and as what. */
export const kBeside = {
  webgpu: ['wasm-simd', 'peruse_webgpu'],
  tokenizer: ['wasm-simd', 'peruse_tokenizer'],
  teach: ['wasm-simd', 'peruse_teach'],
  'teach-threads': ['wasm-simd-threads', 'peruse_teach'],
};

/** The glue that a build shares with others of its kind of threading. */
export function glueOf(variant) {
  if (variant in kBeside) return `glue-${variant}.mjs`;
  return variant.endsWith('-threads') ? 'glue-threads.mjs' : 'glue.mjs';
}
