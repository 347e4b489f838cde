import { pipeline, env } from '@huggingface/transformers';

// Skip the check for local models that a browser would do, and configure the rest as an app does.
env.allowLocalModels = true;
env.allowRemoteModels = false;
env.useBrowserCache = false;
env.useFSCache = false;
env.cacheDir = './.cache';
env.backends.onnx.wasm.numThreads = 1;
env.backends.onnx.wasm.proxy = false;
env.backends.onnx.wasm.wasmPaths = 'https://cdn.example/ort/';
env.logLevel = 40;

const ner = await pipeline('token-classification', 'user/ner', { progress_callback: null });
const entities = await ner('Anna lives in London.', { ignore_labels: [] });
console.log(Array.isArray(entities), 'word' in entities[0], 'score' in entities[0]);
// true true true
