// Tests of the TypeScript API and the wasm engine, in Node and in headless Chromium.
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { kChromiumFlags, kChromiumPath } from './tests/browser/chromium.js';

const kIsolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Fails a test if nobody caught an error or a rejection in a page. Only tests in Playwright's pages need it. */
const kUncaught = ['tests/browser/no_uncaught.ts'];

/** The folder of an installed package to test (tools/test/tarball.mjs). */
const kPackage = process.env.PERUSE_PACKAGE?.replaceAll('\\', '/');

const kTarball = {
  resolve: { alias: [{ find: /^(?:\.\.\/)+web\/dist\/(.*)$/, replacement: `${kPackage}/web/dist/$1` }] },
  test: {
    name: 'tarball',
    include: [
      ...['adapter', 'arguments', 'gliner', 'pipeline', 'pipelines', 'pytorch', 'quantize', 'rankers', 'sentence', 'shards', 'tasks'],
      ...['tokenizer', 'cli/inspect', 'teach/lessons', 'teach/pretrain', 'teach/teach'],
    ].map((name) => `tests/node/${name}.test.ts`),
    environment: 'node',
    pool: 'forks' as const,
    testTimeout: 60_000,
    setupFiles: ['tests/node/support/own_cache.ts'],
    server: { deps: { external: [/\/web\/(dist|wasm)\//] } }, // run as installed
  },
};

function inChromium(name: string, headers: Record<string, string>, include = 'tests/browser/*.test.ts') {
  return {
    server: { headers },
    test: {
      name,
      include: [include],
      testTimeout: 60_000,
      hookTimeout: 60_000,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: { executablePath: kChromiumPath, args: kChromiumFlags } }),
        instances: [{ browser: 'chromium' as const }],
        api: { host: '127.0.0.1' },
      },
    },
  };
}

export default defineConfig({
  test: {
    // Limited, because wasm threads need processors.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'node',
          include: ['tests/node/**/*.test.ts'],
          exclude: ['tests/node/gpu/**'],
          environment: 'node',
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          setupFiles: ['tests/node/support/own_cache.ts'],
          server: { deps: { external: [/\/web\/(dist|wasm)\//] } }, // run as published
        },
      },
      {
        test: {
          name: 'gpu',
          include: ['tests/node/gpu/*.test.ts'],
          environment: 'node',
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
      inChromium('browser', kIsolation),
      inChromium('browser-plain', {}),
      inChromium('browser-gpu', {}, 'tests/browser/gpu/*.test.ts'),
      {
        test: {
          name: 'page',
          include: ['tests/browser/page/*.test.ts'],
          setupFiles: kUncaught,
          environment: 'node',
          pool: 'forks',
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'others',
          include: ['tests/browser/others/*.test.ts'],
          environment: 'node',
          pool: 'forks',
          execArgv: ['--experimental-websocket'], // needed in Node 20
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'package',
          include: ['tests/packaging/*.test.ts'],
          globalSetup: ['tests/packaging/install.ts'],
          setupFiles: kUncaught,
          environment: 'node',
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'hosts',
          include: ['tests/packaging/hosts/*.test.ts'],
          globalSetup: ['tests/packaging/install.ts'],
          setupFiles: kUncaught,
          environment: 'node',
          pool: 'forks',
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'demo',
          include: ['tests/browser/demo/*.test.ts'],
          globalSetup: ['tests/browser/demo/demo.ts'],
          setupFiles: kUncaught,
          environment: 'node',
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          server: { deps: { external: [/\/web\/(dist|wasm)\//] } }, // run as published
        },
      },
      ...(kPackage ? [kTarball] : []),
    ],
  },
});
