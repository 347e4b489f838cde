export { pairTemplate } from '../sources/on_demand/chat_template.js';
export { openRoute } from '../sources/on_demand/routes.js';
export { openStatic } from '../sources/on_demand/static_embeddings.js';
export { openOnnx } from './onnx_weights.js';
