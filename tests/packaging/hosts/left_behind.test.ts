// esbuild, Rollup and `bun build` leave workers and WebAssembly alone: the error says what to do, both remedies work.
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, test } from 'vitest';
import { expectThreeWays } from './left_behind.js';
import { runProgram, type Stage, stage } from './stage.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const installed = (path: string) => here(`../node_modules/${path}`);

let app: Stage;
beforeAll(async () => {
  app = await stage('left_behind', { shared: { 'work.js': 'browser/page/work.js', 'index.html': 'packaging/app/index.html' } });
});

const kBundlers: Record<string, (out: string) => Promise<unknown>> = {
  esbuild: (out) =>
    runProgram(app.folder, installed('esbuild/bin/esbuild'), [
      'main.js',
      '--bundle',
      '--format=esm',
      '--log-level=error',
      `--outfile=${out}/main.js`,
    ]),
  'esbuild with splitting': (out) =>
    runProgram(app.folder, installed('esbuild/bin/esbuild'), [
      'main.js',
      '--bundle',
      '--format=esm',
      '--splitting',
      '--log-level=error',
      `--outdir=${out}`,
    ]),
  'bun build': (out) => runProgram(app.folder, installed('@oven/bun-linux-x64/bin/bun'), ['build', 'main.js', `--outdir=${out}`]),
  Rollup: async (out) => {
    const { rollup } = await import(pathToFileURL(installed('rollup/dist/es/rollup.js')).href);
    const { nodeResolve } = await import(pathToFileURL(installed('@rollup/plugin-node-resolve/dist/es/index.js')).href);
    const bundle = await rollup({ input: join(app.folder, 'main.js'), plugins: [nodeResolve({ browser: true })] });
    await bundle.write({ dir: out, format: 'es' });
  },
};

test.each(Object.keys(kBundlers))('%s', async (name) => {
  const out = join(app.folder, `out-${name.replaceAll(' ', '-')}`);
  await mkdir(out, { recursive: true });
  await kBundlers[name]!(out);
  await cp(join(app.folder, 'index.html'), join(out, 'index.html'));
  await cp(join(app.folder, 'public'), out, { recursive: true });
  await expectThreeWays(app.folder, out);
});
