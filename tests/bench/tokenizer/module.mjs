// module.cc, built for wasm-simd and called from JavaScript as the package calls the engine: text is staged as UTF-8.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildPreset } from '../../../tools/build.mjs';

const kConfig = Buffer.from('{}');

export async function loadModule() {
  const folder = buildPreset('wasm-simd', ['tokenizer_module']);
  const { default: create } = await import(pathToFileURL(join(folder, 'tokenizer_module.mjs')));
  const module = await create();
  const encoder = new TextEncoder();
  let staging = 0,
    capacity = 0;

  function reserve(bytes) {
    if (bytes <= capacity) return;
    module._free(staging);
    staging = module._malloc(bytes);
    capacity = staging ? bytes : 0;
    if (!staging) throw new Error('out of memory');
  }

  function encode(text) {
    reserve(text.length * 3);
    const { written } = encoder.encodeInto(text, module.HEAPU8.subarray(staging, staging + capacity));
    const count = module._bench_encode(staging, written);
    if (count < 0) throw new Error('the text was refused');
    return count;
  }

  return {
    encode,
    encodeIds(text) {
      const count = encode(text),
        at = module._bench_ids() / 4;
      return Array.from(module.HEAP32.subarray(at, at + count));
    },
    load(json) {
      const at = module._malloc(json.length + kConfig.length);
      module.HEAPU8.set(json, at);
      module.HEAPU8.set(kConfig, at + json.length);
      const loaded = module._bench_load(at, json.length, at + json.length, kConfig.length);
      module._free(at);
      if (!loaded) throw new Error('the tokenizer was refused');
    },
    unload: () => module._bench_unload(),
    allocated: () => module._bench_allocated(),
  };
}
