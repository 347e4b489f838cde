// Bundles peruse/inline: one file with the package, the builds with plain SIMD, and the workers for browsers and Node.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { root } from './setup/root.mjs';

const source = (path) => join(root, 'web/src', path);
const pack = (bytes) => gzipSync(bytes, { level: 9 }).toString('base64');

/** Declarations for the package's own imports of it; programs have the types of peruse. */
const kDeclarations = `export declare const _internals: {
  embeddedBuild(variant: string): Promise<WebAssembly.Module>;
  workerCode(platform: 'browser' | 'node'): Promise<string>;
};
`;

export const kInlineBuilds = ['simd', 'simd-threads'];

const kMinify = { compress: true, mangle: true, codegen: { removeWhitespace: true } };
const kOptions = {
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  // No file is next to this one, so a bundler must not search for any.
  transform: { define: { 'import.meta.url': 'undefined' } },
  treeshake: { moduleSideEffects: (id) => /index_inline|worker_(browser|node)/.test(id) },
};

async function scriptOf(entry, options, output) {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({ input: source(entry), ...kOptions, ...options });
  const { output: made } = await build.generate({ minify: kMinify, codeSplitting: false, ...output });
  await build.close();
  return made[0];
}

const kOthers = `export const startWithGpu = undefined;
export const openOnnx = undefined;
export const findGpuInNode = async () => undefined;
export const hasGpu = () => false;
export const onCompiling = () => {};
export const compiled = async () => {};
export const _internals = undefined;`;

/** Omits GPU support and the ONNX reader, which 'peruse/inline' does not support, and the bundle itself. */
const kWithoutOthers = {
  name: 'without-others',
  resolveId: (name) =>
    /gpu\/(choose_device|gpu_node)\.js$|onnx\/onnx_weights\.js$|bundle\/peruse-inline\.js$/.test(name) ? { id: '\0without-others' } : null,
  load: (id) => (id === '\0without-others' ? kOthers : null),
};

/** Node's modules, imported at run time, because bundlers for pages reject them. */
const kNodeModules = {
  name: 'node-modules',
  resolveId: (name) => (name.startsWith('node:') ? { id: `\0${name}` } : null),
  async load(id) {
    if (!id.startsWith('\0node:')) return null;
    const name = id.slice(1);
    const names = Object.keys(await import(name)).filter((one) => one !== 'default' && /^[A-Za-z_]\w*$/.test(one));
    const given = `const given = globalThis.process?.getBuiltinModule?.('${name}') ?? {};\n`;
    return given + names.map((one) => `export const ${one} = /*#__PURE__*/ (() => given.${one})();`).join('\n');
  },
};

function embedded(parts) {
  return {
    name: 'embedded',
    resolveId: (name) => (name === 'peruse-embedded' ? { id: '\0embedded' } : null),
    load: (id) => (id === '\0embedded' ? parts : null),
  };
}

export async function bundleInline(folder, onLog, banner) {
  const browser = await scriptOf('inline/worker_browser.ts', { plugins: [kWithoutOthers], platform: 'browser', onLog }, { format: 'iife' });
  const node = await scriptOf(
    'worker/worker_node.ts',
    { plugins: [kWithoutOthers], platform: 'node', external: /^node:/, onLog },
    { format: 'cjs' },
  );
  const builds = Object.fromEntries(kInlineBuilds.map((build) => [build, pack(readFileSync(join(root, `web/wasm/peruse-${build}.wasm`)))]));
  // Node runs a worker's text as a script, whose functions would become globals: one that minifying names 'gc' would replace V8's.
  const workers = { browser: pack(browser.code), node: pack(`(()=>{${node.code}\n})()`) };
  const { rolldown } = await import('rolldown');
  const text = `export const builds = ${JSON.stringify(builds)};\nexport const workers = ${JSON.stringify(workers)};`;
  const build = await rolldown({
    input: { 'peruse-inline': source('index_inline.ts') },
    ...kOptions,
    plugins: [kWithoutOthers, kNodeModules, embedded(text)],
    platform: 'browser',
    onLog,
  });
  writeFileSync(join(folder, 'peruse-inline.d.ts'), kDeclarations);
  await build.write({
    dir: folder,
    format: 'es',
    minify: kMinify,
    codeSplitting: false,
    entryFileNames: '[name].js',
    postBanner: banner,
  });
  await build.close();
}
