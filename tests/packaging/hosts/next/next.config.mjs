// Isolation headers for threads. The roots are set because folders above have lock files too.
import { createRequire } from 'node:module';

const root = import.meta.dirname;
const { version } = createRequire(import.meta.url)('next/package.json');

/** Without this, Next 14 bundles the package's scripts for Node, and fails. */
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
