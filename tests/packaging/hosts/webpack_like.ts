import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { expectGpuCopied, expectWork, kSharedApp, stage, versionsOf } from './stage.js';

/** `bundler` is an npm package that exports a function which returns a compiler. */
export function testWebpack(host: string, bundler: string): void {
  test.each(versionsOf(host))(`${host} %s: a build works`, async (version) => {
    const app = await stage(host, { version, shared: kSharedApp, models: 'dist' });
    const createCompiler = createRequire(join(app.folder, 'x.js'))(bundler);
    const compiler = createCompiler({
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
}
