#!/usr/bin/env node
// Bundles web/src for pages, into web/bundle: one file for the page, one for its worker, the GPU's part apart, teaching and its worker
// apart, one for service workers, and one for the tokenizer alone, each with its source map; and the builds of the engine beside them,
// where the bundles look for them. Run it after
// `tsc -p tsconfig.build.json`.
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

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

async function write(name, entry, others = kOthers, format = 'es') {
  const { rolldown } = await import('rolldown'); // Only now: in a fresh clone the set-up has installed it by then.
  const build = await rolldown({
    input: { [name]: source(entry) },
    plugins: [keptApart(others)],
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

export async function bundle() {
  rmSync(kOut, { recursive: true, force: true });
  await write('peruse', 'index_bundle.ts');
  await write('peruse-worker', 'worker/worker.ts');
  await write('peruse-gpu', 'gpu/choose_device.ts', kOthersOfGpu);
  await write('peruse-teach', 'teach/index.ts', kOthersOfTeaching);
  await write('peruse-teach-worker', 'teach/teach_worker.ts');
  await write('peruse-service-worker', 'index_service_worker.ts');
  await write('peruse-tokenizer', 'index_tokenizer.ts');
  await write('peruse-isolate', 'isolate.ts');
  await write('peruse-isolate-worker', 'isolate_worker.ts', {}, 'iife'); // Firefox knows no service workers that are modules.
  writeFileSync(join(kOut, 'peruse.d.ts'), "export * from '../dist/index.js';\n");
  writeFileSync(join(kOut, 'peruse-teach.d.ts'), "export * from '../dist/teach/index.js';\n");
  // What a bundler that compiles modules beforehand makes of a build.
  writeFileSync(join(kOut, 'peruse-build.d.ts'), 'declare const build: WebAssembly.Module;\nexport default build;\n');
  linkBuilds();
}

await runAsProgram(import.meta.url, bundle);
