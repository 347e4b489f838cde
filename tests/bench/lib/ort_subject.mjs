// onnxruntime as a subject (worker.mjs): onnxruntime-web's wasm backend, and onnxruntime-node, which is native.
import { timeCalls, wholeFile } from './worker_tools.mjs';

export class OrtWeb {
  options_ = { executionProviders: ['wasm'] };

  async create({ url, threads }) {
    this.ort_ = await import(/* @vite-ignore */ url);
    this.ort_ = this.ort_.default?.InferenceSession ? this.ort_.default : this.ort_;
    Object.assign(this.ort_.env.wasm, { numThreads: threads, proxy: false });
    this.ort_.env.logLevel = 'error';
  }

  async load({ onnx }) {
    const bytes = await wholeFile(onnx);
    const start = performance.now();
    this.session_ = await this.ort_.InferenceSession.create(bytes, { ...this.options_, graphOptimizationLevel: 'all' });
    return { weightBytes: bytes.length, seconds: (performance.now() - start) / 1000 };
  }

  batch({ ids }) {
    const longest = Math.max(...ids.map((text) => text.length));
    const padded = new BigInt64Array(ids.length * longest);
    const mask = new BigInt64Array(ids.length * longest);
    ids.forEach((text, row) => {
      text.forEach((id, t) => {
        padded[row * longest + t] = BigInt(id);
        mask[row * longest + t] = 1n;
      });
    });
    const shape = [ids.length, longest];
    this.feeds_ = {
      input_ids: new this.ort_.Tensor('int64', padded, shape),
      attention_mask: new this.ort_.Tensor('int64', mask, shape),
    };
    return {};
  }

  async run({ calls }) {
    const { outputs, times } = await timeCalls(calls, () => this.session_.run(this.feeds_));
    this.outputs_ = outputs;
    return times;
  }

  logits() {
    const { dims, data } = this.outputs_.logits;
    return { rows: dims.slice(0, -1).reduce((a, b) => a * b, 1), cols: dims.at(-1), values: Array.from(data) };
  }
  memory() {
    return {};
  }
}

export class OrtNode extends OrtWeb {
  async create({ url, threads }) {
    const { createRequire } = await import('node:module');
    this.ort_ = createRequire(url)('onnxruntime-node');
    this.options_ = { executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1 };
  }
}
