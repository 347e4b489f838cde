#!/usr/bin/env node
// Bundles web/src for pages, into web/bundle: one file for the page, one for its worker, the GPU's part apart, teaching and its worker
// apart, one for service workers, and one for the tokenizer alone, each with its source map; and the builds of the engine beside them,
// where the bundles look for them. Run it after
// `tsc -p tsconfig.build.json`.
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { glueOf, kVariants } from './variants.mjs';

const kOut = join(root, 'web/bundle');
const source = (path) => join(root, 'web/src', path);

/** A bundle knows another only by the name of its file: each is loaded, and cached, for itself. */
const kOthers = { 'worker/worker.ts': './peruse-worker.js', 'gpu/choose_device.ts': './peruse-gpu.js' };
/** The GPU's part works with the classes of the worker that loads it, which exports them. */
const kOthersOfGpu = Object.fromEntries(['engine/engine.ts', 'engine/builds.ts', 'errors.ts'].map((path) => [path, './peruse-worker.js']));

/** Teaching shares with the page's file its settings and pipelines, its errors (one class for `instanceof`), sources and workers. */
const kOthersOfTeaching = Object.fromEntries(
  [
    'index.ts',
    'engine/variant.ts',
    'env.ts',
    'errors.ts',
    'pipeline.ts',
    'platform/current.ts',
    'sources/sendable.ts',
    'sources/source.ts',
    'worker/worker_host.ts',
  ].map((path) => [path, './peruse.js']),
);

function keptApart(others) {
  const files = new Map(Object.entries(others).map(([path, name]) => [source(path), name]));
  return {
    name: 'kept-apart',
    async resolveId(name, importer) {
      if (importer === undefined) return null;
      const found = await this.resolve(name, importer, { skipSelf: true });
      return files.has(found?.id) ? { id: files.get(found.id), external: true } : null;
    },
  };
}

/** Each with the builds that it is of no use without. */
const kBundles = [
  { name: 'peruse', entry: 'index_bundle.ts' },
  { name: 'peruse-worker', entry: 'worker/worker.ts', builds: ['relaxed-threads'] },
  { name: 'peruse-gpu', entry: 'gpu/choose_device.ts', others: kOthersOfGpu, builds: ['webgpu'] },
  { name: 'peruse-teach', entry: 'teach/index.ts', others: kOthersOfTeaching, builds: ['teach', 'teach-threads'] },
  { name: 'peruse-teach-worker', entry: 'teach/teach_worker.ts', builds: ['teach', 'teach-threads'] },
  { name: 'peruse-service-worker', entry: 'index_service_worker.ts' },
  { name: 'peruse-tokenizer', entry: 'index_tokenizer.ts', builds: ['tokenizer'] },
  { name: 'peruse-isolate', entry: 'isolate.ts' },
  { name: 'peruse-isolate-worker', entry: 'isolate_worker.ts', others: {}, format: 'iife' }, // Firefox knows no service workers that are modules.
];

/** In place of the glue of builds that are still to come: what is bundled already says so where one is asked for. */
function toCome(made) {
  const kWords = 'it is still being made: load the page again when it is';
  const glue = made.map(glueOf);
  return {
    name: 'to-come',
    resolveId: (name) => (/\/wasm\/glue[\w-]*\.mjs$/.test(name) && !glue.includes(basename(name)) ? { id: `\0${name}` } : null),
    load: (id) => (id.startsWith('\0') ? `export default () => Promise.reject(new Error(${JSON.stringify(kWords)}));` : null),
  };
}

async function write({ name, entry, others = kOthers, format = 'es' }, plugins) {
  const { rolldown } = await import('rolldown'); // Only now: in a fresh clone the set-up has installed it by then.
  const build = await rolldown({
    input: { [name]: source(entry) },
    plugins: [keptApart(others), ...plugins],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    platform: 'browser',
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await build.write({
    dir: kOut,
    format,
    sourcemap: true,
    minify: { compress: true, mangle: true, codegen: { removeWhitespace: false } },
    entryFileNames: '[name].js',
  });
  const chunks = output.filter(({ type }) => type === 'chunk');
  if (chunks.length !== 1) throw new Error(`${name} became ${chunks.length} files`);
  await build.close();
}

/** The builds of the engine lie beside the bundles; here as second names of the same files. */
export function linkBuilds() {
  mkdirSync(kOut, { recursive: true });
  const builds = join(root, 'web/wasm');
  for (const name of readdirSync(kOut).filter((one) => one.endsWith('.wasm'))) rmSync(join(kOut, name));
  for (const name of existsSync(builds) ? readdirSync(builds) : []) {
    if (name.endsWith('.wasm')) linkSync(join(builds, name), join(kOut, name));
  }
}

/** The bundles that can work with the builds that are made. */
export async function bundle(made = kVariants) {
  rmSync(kOut, { recursive: true, force: true });
  for (const one of kBundles) {
    if ((one.builds ?? []).every((build) => made.includes(build))) await write(one, [toCome(made)]);
  }
  writeFileSync(join(kOut, 'peruse.d.ts'), "export * from '../dist/index.js';\n");
  writeFileSync(join(kOut, 'peruse-teach.d.ts'), "export * from '../dist/teach/index.js';\n");
  // What a bundler that compiles modules beforehand makes of a build.
  writeFileSync(join(kOut, 'peruse-build.d.ts'), 'declare const build: WebAssembly.Module;\nexport default build;\n');
  linkBuilds();
}

await runAsProgram(import.meta.url, () => bundle());
