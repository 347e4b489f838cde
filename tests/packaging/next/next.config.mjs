// Isolated, for threads. The root: the lock file that counts is the one of tests/packaging.
export default {
  reactStrictMode: true,
  turbopack: { root: process.env.NEXT_ROOT },
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
