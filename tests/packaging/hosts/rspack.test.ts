// Rspack: a build without a setting that concerns the package.
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, test } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { expectGpuCopied, expectWork, type Stage, stage } from './stage.js';
import { kSharedApp } from './vite.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('rspack', { shared: kSharedApp, models: 'dist' });
});

test('a build works', async () => {
  const { rspack } = createRequire(join(app.folder, 'x.js'))('@rspack/core');
  const compiler = rspack({
    mode: 'production',
    context: app.folder,
    entry: './main.js',
    output: { path: join(app.folder, 'dist'), filename: 'main.js' },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  await promisify(compiler.close.bind(compiler))();
  const built = join(app.folder, 'dist');
  await cp(join(app.folder, 'index.html'), join(built, 'index.html'));
  const site = await readFolder(built, built);
  expectWork(await visit(site, kIsolation));
  expectGpuCopied(site);
});
