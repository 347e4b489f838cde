// Isolated, for threads. The roots: there are other lock files above this folder.
import { createRequire } from 'node:module';

const root = import.meta.dirname;
const { version } = createRequire(import.meta.url)('next/package.json');

/** Next 14 takes the package's scripts for Node into the server, and fails ("import cannot be used outside of module code"). */
const forNext14 = { experimental: { outputFileTracingRoot: root, serverComponentsExternalPackages: ['peruse'] } };
const forLater = { outputFileTracingRoot: root, turbopack: { root } };

export default {
  output: 'standalone',
  ...(version.startsWith('14.') ? forNext14 : forLater),
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
