// The roots: there are other lock files above this folder.
const root = import.meta.dirname;
export default { output: 'standalone', outputFileTracingRoot: root, turbopack: { root } };
