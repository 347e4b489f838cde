// LiteRT.js (@litertjs/core, XNNPACK's operators in wasm) as a subject (worker.mjs). Its files have fixed shapes, one for each number of tokens.
import { inNode, timeCalls, wholeFile } from './worker_tools.mjs';

export class LiteRt {
  /** `url`: the library as one module. `wasm`: the folder of its engines. */
  async create({ url, wasm, threads }) {
    this.threads_ = threads;
    await (inNode ? runScriptsInNode() : runScriptsInModuleWorker(wasm));
    this.lib_ = await import(/* @vite-ignore */ url);
    await this.lib_.loadLiteRt(wasm, { threads: threads > 1 });
  }

  /** `files`: by number of tokens. A file is loaded for the first batch that needs it. */
  load({ files }) {
    this.files_ = files;
    return {};
  }

  async batch({ ids }) {
    if (ids.length !== 1) throw new Error('LiteRT.js computes one text in a call');
    const [text] = ids;
    if (text.length !== this.tokens_) {
      this.model_?.delete();
      this.model_ = await this.lib_.loadAndCompile(await wholeFile(this.files_[text.length]), {
        accelerator: 'wasm',
        cpuOptions: { numThreads: this.threads_ },
      });
      this.tokens_ = text.length;
    }
    const tensor = (values) => new this.lib_.Tensor(Int32Array.from(values), [1, text.length]);
    for (const input of this.inputs_ ?? []) input.delete();
    this.inputs_ = [tensor(text), tensor(text.map(() => 1))];
    return {};
  }

  async run({ calls }) {
    const { times } = await timeCalls(calls, async () => {
      for (const tensor of this.outputs_ ?? []) tensor.delete();
      this.outputs_ = await this.model_.run(this.inputs_);
    });
    return times;
  }

  logits() {
    const values = Array.from(this.outputs_[0].toTypedArray());
    return { rows: 1, cols: values.length, values };
  }
  memory() {
    return {};
  }
}

// LiteRT.js starts its engines' scripts by importScripts, which module workers and Node lack.

async function runScriptsInNode() {
  const { createRequire } = await import('node:module');
  globalThis.self = globalThis;
  globalThis.importScripts = (path) => {
    globalThis.ModuleFactory = createRequire(import.meta.url)(path);
  };
}

function runScriptsInModuleWorker(wasm) {
  globalThis.importScripts = (url) => {
    const request = new XMLHttpRequest();
    request.open('GET', url, false);
    request.send();
    // Without a script's address, the engine does not know where its file is and what its threads have to run.
    self.Module = { locateFile: (name) => `${wasm}/${name}`, mainScriptUrlOrBlob: url };
    // biome-ignore lint/security/noGlobalEval: it is what importScripts does
    globalThis.eval(request.responseText);
  };
}
