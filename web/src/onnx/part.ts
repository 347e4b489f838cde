export { pairTemplate } from '../sources/chat_template.js';
export { openRoute } from '../sources/routes.js';
export { openStatic } from '../sources/static_embeddings.js';
export { openOnnx } from './onnx_weights.js';
