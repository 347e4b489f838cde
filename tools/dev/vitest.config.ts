// Vitest for `npm run dev`: tests/node on the TypeScript sources. Imports of web/dist become imports of web/src, so that an edit runs the tests
// that depend on it. Workers and commands still load web/dist, whose JavaScript is updated after each edit.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

type Plugin = Extract<NonNullable<ViteUserConfig['plugins']>[number], { name: string }>;

const kRoot = fileURLToPath(new URL('../..', import.meta.url));
const kSources = join(kRoot, 'web/src');

const { config } = ts.readConfigFile(join(kRoot, 'tsconfig.build.json'), ts.sys.readFile) as { config: { compilerOptions: object } };
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, kRoot);

function compile(file: string): void {
  const out = file.replace(kSources, join(kRoot, 'web/dist')).replace(/ts$/, 'js');
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions: options, fileName: file }).outputText);
}

const isSource = (file: string) => file.startsWith(kSources) && /(?<!\.d)\.ts$/.test(file);

function distFollowsSources(): Plugin {
  return {
    name: 'dist-follows-sources',
    configureServer({ watcher }) {
      const files = readdirSync(kSources, { recursive: true, encoding: 'utf8' }).map((name) => join(kSources, name));
      for (const file of files.filter(isSource)) compile(file);
      mkdirSync(join(kRoot, 'web/bundle'), { recursive: true }); // by this folder the package recognises itself
      for (const event of ['add', 'change'] as const) watcher.on(event, (file) => isSource(file) && compile(file));
    },
  };
}

export default defineConfig({
  root: kRoot,
  plugins: [distFollowsSources()],
  resolve: { alias: [{ find: /^(?:\.\.\/)+web\/dist\/(.*)\.js$/, replacement: `${kSources}/$1.ts` }] },
  server: { watch: { ignored: ['build', 'models', 'web/dist', 'web/bundle', 'tests/fixtures'].map((path) => `**/${path}/**`) } },
  test: {
    maxWorkers: 2,
    include: ['tests/node/**/*.test.ts'],
    exclude: ['tests/node/gpu/**'],
    environment: 'node',
    pool: 'forks',
    testTimeout: 60_000,
    setupFiles: ['tests/node/support/own_cache.ts'],
    server: { deps: { external: [/\/web\/wasm\//] } },
  },
});
