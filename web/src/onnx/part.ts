export { openStatic } from '../sources/static_embeddings.js';
export { openOnnx } from './onnx_weights.js';
