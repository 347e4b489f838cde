#!/usr/bin/env node
// Bundles web/src for pages to web/bundle, with source maps, and links the engine's builds next to the bundles. For Node, bundles the workers
// (web/dist/node) and the package for require() (web/dist/cjs). Run it after `tsc -p tsconfig.build.json`.
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleInline, kInlineBuilds } from './bundle_inline.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { glueOf, kVariants } from './variants.mjs';

const kOut = join(root, 'web/bundle');
const source = (path) => join(root, 'web/src', path);

/** The GPU bundle uses the classes of the worker that loads it, through a global (worker/runtime_browser.ts). */
const kOthersOfGpu = Object.fromEntries(
  ['engine/engine.ts', 'engine/cpu_engine.ts', 'errors.ts'].map((path) => [path, basename(path, '.ts')]),
);
const gpuGlobal = (name) => `globalThis[Symbol.for('peruse.gpu')].${name}`;

/** A module of the names in `_internals` of peruse.js. */
const kInternals = '\0internals';

/** The training bundle uses settings, pipelines, errors, sources and workers of the page's bundle. */
const kOthersOfTeaching = Object.fromEntries(
  [
    'index.ts',
    'engine/files_browser.ts',
    'engine/variant.ts',
    'env.ts',
    'errors.ts',
    'pipeline_members.ts',
    'listener.ts',
    'options.ts',
    'pipeline.ts',
    'platform/current.ts',
    'sources/sendable.ts',
    'sources/source.ts',
    'tasks/tasks.ts',
    'worker/start_worker_browser.ts',
    'worker/remote_host.ts',
  ].map((path) => [path, kInternals]),
);

/** peruse/transformers uses the page's bundle: its public names, its settings, errors and workers. */
const kOthersOfTransformers = {
  'face.ts': './peruse.js',
  'index.ts': './peruse.js',
  ...Object.fromEntries(
    [
      'env.ts',
      'errors.ts',
      'listener.ts',
      'options.ts',
      'platform/current.ts',
      'resident_models.ts',
      'sources/sendable.ts',
      'sources/source.ts',
      'tasks/vectors.ts',
    ].map((path) => [path, kInternals]),
  ),
};

function keptApart(others) {
  const files = new Map(Object.entries(others).map(([path, name]) => [source(path), name]));
  return {
    name: 'kept-apart',
    async resolveId(name, importer) {
      if (importer === kInternals) return { id: name, external: true };
      if (importer === undefined) return null;
      const found = await this.resolve(name, importer, { skipSelf: true });
      const id = files.get(found?.id);
      return id === undefined ? null : { id, external: id !== kInternals };
    },
    load(id) {
      if (id !== kInternals) return null;
      const [, names] = /_internals = (\{[^}]*\})/.exec(readFileSync(source('index_bundle.ts'), 'utf8'));
      return `import { _internals } from './peruse.js';\nexport const ${names} = _internals;\n`;
    },
  };
}

/**
 * The bundles, with the builds that they require. A part is a script without imports and exports, which bundlers copy
 * unchanged: it sets a global to what its entry exports (importPart, engine/files_browser.ts).
 */
const kBundles = [
  { name: 'peruse', entry: 'index_bundle.ts' },
  { name: 'peruse-worker', entry: 'worker/worker.ts', builds: ['relaxed-threads'] },
  { name: 'peruse-host', entry: 'worker/host_here.ts', part: true, sourcemap: false, builds: ['relaxed-threads'] },
  { name: 'peruse-gpu', entry: 'gpu/gpu_script.ts', others: kOthersOfGpu, format: 'iife', globals: gpuGlobal, builds: ['webgpu'] },
  { name: 'peruse-onnx', entry: 'onnx/part.ts', part: true },
  { name: 'peruse-teach', entry: 'teach/index.ts', others: kOthersOfTeaching, builds: ['teach', 'teach-threads'] },
  { name: 'peruse-teach-worker', entry: 'teach/teach_worker.ts', builds: ['teach', 'teach-threads'] },
  { name: 'peruse-service-worker', entry: 'index_service_worker.ts' },
  { name: 'peruse-tokenizer', entry: 'index_tokenizer.ts', builds: ['tokenizer'] },
  { name: 'peruse-transformers', entry: 'transformers/index.ts', others: kOthersOfTransformers },
  { name: 'peruse-redact', entry: 'index_redact.ts' },
  { name: 'peruse-redact-kit', entry: 'redact/model_kit.ts', part: true, sourcemap: false },
  { name: 'peruse-search', entry: 'search/kit.ts', part: true },
  { name: 'peruse-extras', entry: 'extras.ts', part: true },
  { name: 'peruse-files', entry: 'engine/files_part.ts', part: true },
  { name: 'peruse-isolate', entry: 'isolate.ts' },
  { name: 'peruse-isolate-worker', entry: 'isolate_worker.ts', format: 'iife' }, // Firefox does not support service workers that are modules
];

/** Blanks the parts of options (options.ts) that only the command line and the guides use. Source maps stay right. */
const kWithoutWords = {
  name: 'without-words',
  transform(code) {
    const blank = (text) => text.replace(/[^\n]/g, ' ');
    const short = code.replace(/\boption(?:<[^()]*>)?\(\{[\s\S]*?\}\)/g, (call) =>
      call.replace(/\bflag: \{[^{}]*\},?/, blank).replace(/\bdefault: (?:'[^']*'|"[^"]*"|[\w.-]+),?/, blank),
    );
    return short === code ? null : { code: short, map: null };
  },
};

/** Replaces loaders of builds that do not exist yet by a function that throws. */
function toCome(made) {
  const kWords = 'it is still being made: load the page again when it is';
  const glue = made.map(glueOf);
  return {
    name: 'to-come',
    resolveId: (name) => (/\/wasm\/glue[\w-]*\.mjs$/.test(name) && !glue.includes(basename(name)) ? { id: `\0${name}` } : null),
    load: (id) => (id.startsWith('\0') ? `export default () => Promise.reject(new Error(${JSON.stringify(kWords)}));` : null),
  };
}

const kNodeBundles = [
  { folder: 'node', entries: { worker: 'worker/worker_node.ts' }, name: '[name].mjs', builds: ['relaxed-threads'] },
  { folder: 'node', entries: { teach_worker: 'teach/teach_worker_node.ts' }, name: '[name].mjs', builds: ['teach', 'teach-threads'] },
  {
    folder: 'cjs',
    entries: {
      peruse: 'index_node.ts',
      teach: 'teach/index_node.ts',
      tokenizer: 'index_tokenizer_node.ts',
      redact: 'index_redact.ts',
      models: 'quantize/models.ts',
    },
    name: '[name].cjs',
    format: 'cjs',
  },
];

/** Jest's jsdom runs in Node, but has a browser's timers and lacks TextEncoder and MessageChannel. */
const kGlobals = `const { MessageChannel } = require('node:worker_threads');
const { TextDecoder, TextEncoder } = require('node:util');
const { setTimeout, clearTimeout, setInterval, clearInterval } = require('node:timers');`;

async function writeForNode({ folder, entries, name, format = 'es' }, plugins) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([key, entry]) => [key, source(entry)])),
    plugins,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    platform: 'node',
    external: [/^node:/, /\/peruse-inline\.js$/],
    onLog: refuse,
  });
  const isOneFile = format === 'es';
  const { output } = await build.write({
    dir: join(root, 'web/dist', folder),
    format,
    exports: 'named',
    banner: isOneFile ? undefined : kGlobals,
    codeSplitting: !isOneFile,
    entryFileNames: name,
    chunkFileNames: name,
  });
  await build.close();
  for (const { name: entry, isEntry, exports } of isOneFile ? [] : output) {
    if (isEntry) writeFileSync(join(root, 'web/dist', folder, `${entry}.d.cts`), requiredTypes(entries[entry], exports));
  }
}

/** Declarations for require(). Those of a CommonJS module can name types of an ES module, but not export its values. */
function requiredTypes(entry, exports) {
  const module = `'../${(kDeclarations[entry] ?? entry).replace(/ts$/, 'js')}' with { 'resolution-mode': 'import' }`;
  const values = exports.flatMap((name) => [
    `export declare const ${name}: typeof module.${name};`,
    ...(/^[A-Z]/.test(name) ? [`export type ${name} = module.${name};`] : []), // classes are types too
  ]);
  return [`import type * as module from ${module};`, `export type * from ${module};`, ...values, ''].join('\n');
}

/** Entries for Node with the declarations of those for browsers. */
const kDeclarations = {
  'index_node.ts': 'index.ts',
  'teach/index_node.ts': 'teach/index.ts',
  'index_tokenizer_node.ts': 'index_tokenizer.ts',
};

function refuse(level, log) {
  if (log.code === 'PLUGIN_TIMINGS') return; // only says that the machine is busy
  throw new Error(`${level}: ${log.message}`);
}

/**
 * Begins every bundle. With "strict" in the tsconfig.json of an app, esbuild 0.28 treats a module without this directive as sloppy code: its
 * functions in blocks overwrite functions of the same name around them.
 */
const kStrict = "'use strict';";

const kPart = '\0part';

/** The names of the values that a module exports. */
function exportsOf(entry) {
  const text = readFileSync(source(entry), 'utf8');
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) => list.split(','));
  const own = [...text.matchAll(/^export (?:const|(?:async )?function|class) (\w+)/gm)].map(([, name]) => name);
  const names = [...lists.map((name) => name.trim()), ...own].filter((name) => name !== '' && !name.startsWith('type '));
  if (names.length === 0 || /^export \*/m.test(text)) throw new Error(`${entry} must name what it exports`);
  return names.join(', ');
}

/** The module that sets the global of a part. */
const setsGlobal = ({ name, entry }) => ({
  name: 'sets-global',
  resolveId: (id) => (id === kPart ? { id } : null),
  load(id) {
    if (id !== kPart) return null;
    const names = exportsOf(entry);
    const from = JSON.stringify(source(entry));
    return `import { ${names} } from ${from};\nglobalThis[Symbol.for('${name.replace('-', '.')}')] = { ${names} };`;
  },
});

async function write({ name, entry, part, others = {}, format = part ? 'iife' : 'es', globals, sourcemap = true }, plugins) {
  const { rolldown } = await import('rolldown'); // in a new clone, set-up has installed it only now
  const build = await rolldown({
    input: { [name]: part ? kPart : source(entry) },
    plugins: [setsGlobal({ name, entry }), keptApart(others), kWithoutWords, ...plugins],
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    platform: 'browser',
    transform: { define: { 'typeof process': '"undefined"' } }, // the loaders ask for Node, and Parcel would want a package for it
    experimental: { attachDebugInfo: 'none' }, // no comments with the names of source files
    onLog: refuse,
  });
  const { output } = await build.write({
    dir: kOut,
    format,
    globals,
    postBanner: kStrict,
    sourcemap,
    minify: true,
    comments: { jsdoc: false }, // a sixth of the scripts' size; bundlers read the annotations, which stay
    entryFileNames: '[name].js',
  });
  const chunks = output.filter(({ type }) => type === 'chunk');
  if (chunks.length !== 1) throw new Error(`${name} became ${chunks.length} files`);
  await build.close();
}

export function linkBuilds() {
  mkdirSync(kOut, { recursive: true });
  const builds = join(root, 'web/wasm');
  for (const name of readdirSync(kOut).filter((one) => one.endsWith('.wasm'))) rmSync(join(kOut, name));
  for (const name of existsSync(builds) ? readdirSync(builds) : []) {
    if (name.endsWith('.wasm')) linkSync(join(builds, name), join(kOut, name));
  }
}

export async function bundle(made = kVariants) {
  rmSync(kOut, { recursive: true, force: true });
  for (const one of kBundles) {
    if ((one.builds ?? []).every((build) => made.includes(build))) await write(one, [toCome(made)]);
  }
  for (const one of kNodeBundles) {
    if ((one.builds ?? []).every((build) => made.includes(build))) await writeForNode(one, [toCome(made)]);
  }
  if (kInlineBuilds.every((build) => made.includes(build))) await bundleInline(kOut, refuse, kStrict);
  writeFileSync(join(kOut, 'peruse.d.ts'), "export * from '../dist/index.js';\n");
  writeFileSync(join(kOut, 'peruse-teach.d.ts'), "export * from '../dist/teach/index.js';\n");
  // The type of a build, for bundlers that compile it.
  writeFileSync(join(kOut, 'peruse-build.d.ts'), 'declare const build: WebAssembly.Module;\nexport default build;\n');
  linkBuilds();
}

await runAsProgram(import.meta.url, () => bundle());
