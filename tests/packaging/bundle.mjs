// Bundles an app: node bundle.mjs <vite|webpack|esbuild|rollup> <app> <out>, with only the settings that the documentation names.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [bundler, app, out] = process.argv.slice(2);
const entry = join(app, 'main.js');

const kBundlers = {
  async vite() {
    const { build } = await import('vite');
    await build({ configFile: false, root: app, logLevel: 'error', build: { outDir: out, emptyOutDir: true } });
  },

  async webpack() {
    const { default: webpack } = await import('webpack');
    const settings = { mode: 'production', context: app, entry, output: { path: out, filename: 'main.js' } };
    await new Promise((done, fail) => {
      webpack(settings, (error, stats) => {
        // webpack warns of the size of the wasm files and of a worker that starts itself; both are intended.
        if (error ?? stats.hasErrors()) fail(error ?? new Error(stats.toString({ all: false, errors: true })));
        else done();
      });
    });
    page();
  },

  // esbuild and Rollup do not process workers and wasm; the package's files are in the bundle's folder.
  async esbuild() {
    const esbuild = await import('esbuild');
    const { warnings } = await esbuild.build({
      entryPoints: [entry],
      bundle: true,
      format: 'esm',
      outfile: join(out, 'main.js'),
      logLevel: 'error',
    });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
    page();
    beside();
  },

  async react() {
    const esbuild = await import('esbuild');
    await esbuild.build({
      entryPoints: [join(app, 'strict.jsx')],
      bundle: true,
      format: 'esm',
      jsx: 'automatic',
      nodePaths: [fileURLToPath(new URL('node_modules', import.meta.url))],
      define: { 'process.env.NODE_ENV': '"development"' },
      outfile: join(out, 'main.js'),
      logLevel: 'error',
    });
    page();
    beside();
  },

  async rollup() {
    const { rollup } = await import('rollup');
    const { nodeResolve } = await import('@rollup/plugin-node-resolve');
    const bundle = await rollup({
      input: entry,
      plugins: [nodeResolve({ browser: true })],
      onwarn: (warning) => {
        throw new Error(warning.message);
      },
    });
    await bundle.write({ dir: out, format: 'es' });
    page();
    beside();
  },
};

function page() {
  cpSync(join(app, 'index.html'), join(out, 'index.html'));
}

function beside() {
  cpSync(join(app, 'node_modules/peruse/web/bundle'), out, { recursive: true });
}

mkdirSync(out, { recursive: true });
await kBundlers[bundler]();
