// Makes a page of an app: node bundle.mjs <vite|webpack|esbuild|rollup> <app> <out>. The settings here are those that the
// README tells users to make, and no others.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const [bundler, app, out] = process.argv.slice(2);
const entry = join(app, 'main.js');

const kBundlers = {
  async vite() {
    const { build } = await import('vite');
    await build({ configFile: false, root: app, logLevel: 'error', build: { outDir: out, emptyOutDir: true }, worker: { format: 'es' } });
  },

  async webpack() {
    const { default: webpack } = await import('webpack');
    const settings = { mode: 'production', context: app, entry, output: { path: out, filename: 'main.js' } };
    await new Promise((done, fail) => {
      webpack(settings, (error, stats) => {
        // It warns of the size of the wasm files, and that the engine's file starts itself as a worker; both are meant.
        if (error ?? stats.hasErrors()) fail(error ?? new Error(stats.toString({ all: false, errors: true })));
        else done();
      });
    });
    page();
  },

  // esbuild and Rollup leave workers and wasm alone: the package's web folder is served as it is, and the bundle imports it.
  async esbuild() {
    const esbuild = await import('esbuild');
    const { warnings } = await esbuild.build({
      entryPoints: [entry], bundle: true, format: 'esm', outfile: join(out, 'main.js'), logLevel: 'error',
      alias: { peruse: '/peruse/dist/index.js' }, external: ['/peruse/*'],
    });
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings));
    page();
    served();
  },

  async rollup() {
    const { rollup } = await import('rollup');
    const bundle = await rollup({ input: entry, external: ['peruse'], onwarn: (warning) => { throw new Error(warning.message); } });
    await bundle.write({ file: join(out, 'main.js'), format: 'es', paths: { peruse: '/peruse/dist/index.js' } });
    page();
    served();
  },
};

function page() {
  cpSync(join(app, 'index.html'), join(out, 'index.html'));
}

function served() {
  cpSync(join(app, 'node_modules/peruse/web'), join(out, 'peruse'), { recursive: true });
}

mkdirSync(out, { recursive: true });
await kBundlers[bundler]();
