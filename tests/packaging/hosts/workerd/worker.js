// A Cloudflare worker. It may not compile WebAssembly at run time, so the engine is one of its modules.
import config from 'config.json';
import weights from 'model.safetensors';
import { pipeline } from 'peruse';
import engine from 'peruse-simd.wasm';
import tokenizerEngine from 'peruse-tokenizer.wasm';
import { Tokenizer } from 'peruse/tokenizer';
import tokenizer from 'tokenizer.json';

const kFiles = { 'config.json': config, 'tokenizer.json': tokenizer, 'model.safetensors': weights };

export default {
  async fetch(request) {
    try {
      const model = new URL(request.url).searchParams.get('model') ?? kFiles;
      const classify = await pipeline('text-classification', model, { variant: 'simd', wasm_module: engine });
      const [{ label }] = await classify(model === kFiles ? 'A gem.' : 't1 t2');
      const { worker, threads } = classify.info;
      await classify.dispose();
      const tokens = (await Tokenizer.from_pretrained(model, { wasm_module: tokenizerEngine })).count('A gem.');
      return Response.json({ label, worker, threads, tokens });
    } catch (error) {
      return Response.json({ error: String(error.stack) });
    }
  },
};
