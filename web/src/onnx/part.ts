export { openOnnx } from './onnx_weights.js';
export { openStatic } from './static_embeddings.js';
