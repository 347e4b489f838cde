// Isolated, for threads. The roots: there are other lock files above this folder.
const root = import.meta.dirname;

export default {
  output: 'standalone',
  outputFileTracingRoot: root,
  turbopack: { root },
  headers: async () => [
    {
      source: '/:path*',
      headers: [
        { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
        { key: 'Cross-Origin-Embedder-Policy', value: 'require-corp' },
      ],
    },
  ],
};
