// Vitest for `npm run dev`: tests/node on the tree of tools/dev/tree.mjs. Every path of web/dist or web/src in a test becomes a path of that tree, so that
// an edit runs the tests that depend on it, and workers and commands run what was just written, too.
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { compile, isSource, kTree, writeTree } from './tree.mjs';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const kRoot = fileURLToPath(new URL('../..', import.meta.url));

function treeFollowsSources(): Plugin {
  return {
    name: 'tree-follows-sources',
    enforce: 'pre',
    configureServer({ watcher }) {
      writeTree();
      watcher.add(`${kRoot}web/src`);
      for (const event of ['add', 'change'] as const) watcher.on(event, (file) => isSource(file) && compile(file));
    },
    transform(code, id) {
      if (!id.startsWith(`${kRoot}tests/`)) return undefined;
      const moved = code
        .replace(/(['"`/}])web\/dist\//g, `$1${kTree}/web/dist/`)
        .replace(/(from |import\(|import |mock\()'((?:\.\.\/)+)web\/src\/([^']*\.js)'/g, `$1'$2${kTree}/web/dist/$3'`);
      return moved === code ? undefined : { code: moved, map: null };
    },
  };
}

/** What tests/node/adapters.test.ts replaces by a hook of Node, which modules that Vite runs do not ask. */
const kStandIns = {
  react: `${kRoot}tests/node/support/react_stand_in.mjs`,
  '@langchain/core/embeddings': `${kRoot}tests/node/support/langchain_stand_in.mjs`,
};

export default defineConfig({
  root: kRoot,
  plugins: [treeFollowsSources()],
  resolve: { alias: kStandIns },
  server: {
    watch: { ignored: ['build/!(dev)', 'models', 'web/dist', 'web/bundle', 'tests/fixtures'].map((path) => `${kRoot}${path}/**`) }, // not build/dev/web/dist
  },
  test: {
    maxWorkers: 2,
    include: ['tests/node/**/*.test.ts'],
    exclude: ['tests/node/gpu/**'],
    environment: 'node',
    pool: 'forks',
    testTimeout: 60_000,
    setupFiles: ['tests/node/support/own_cache.ts', 'tools/mutants/hits.mjs'],
    server: { deps: { inline: [/\/build\/dev\/web\/dist\//], external: [/\/web\/wasm\//] } },
  },
});
