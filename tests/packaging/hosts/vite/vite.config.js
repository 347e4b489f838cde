const headers = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
const alias = { '@huggingface/transformers': 'peruse/transformers' };
export default { server: { headers }, preview: { headers }, resolve: { alias } };
