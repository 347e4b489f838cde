// The readers of .onnx files and of static embeddings, as one import.
export { openOnnx } from './onnx_weights.js';
export { openStatic } from './static_embeddings.js';
