import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { expectAliased, kAlias, stageAliased } from './aliased.js';
import { stageOwnWorker, testOwnWorker } from './own_worker.js';
import { expectGpuCopied, expectWork, kSharedApp, type Stage, stage, versionsOf } from './stage.js';

/** `bundler` is an npm package that exports a function which returns a compiler. Returns the folder of the built site. */
async function build(app: Stage, bundler: string, alias: Record<string, string> = {}): Promise<string> {
  const built = join(app.folder, 'dist');
  const createCompiler = createRequire(join(app.folder, 'x.js'))(bundler);
  const compiler = createCompiler({
    mode: 'production',
    context: app.folder,
    entry: './main.js',
    resolve: { alias },
    output: { path: built, filename: 'main.js' },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }));
  await promisify(compiler.close.bind(compiler))();
  await cp(join(app.folder, 'index.html'), join(built, 'index.html'));
  return built;
}

export function testWebpack(host: string, bundler: string): void {
  describe.each(versionsOf(host))(`${host} %s`, (version) => {
    test('a build works', async () => {
      const built = await build(await stage(host, { version, shared: kSharedApp, models: 'dist' }), bundler);
      const site = await readFolder(built, built);
      expectWork(await visit(site, kIsolation));
      expectGpuCopied(site);
    });

    test("a build with the program's own worker works", async () => {
      const app = await stageOwnWorker(host, version);
      await testOwnWorker(app, await build(app, bundler));
    });

    test('a build with an alias for transformers.js works', async () => {
      const app = await stageAliased(host, version);
      const built = await build(app, bundler, kAlias);
      await cp(join(app.folder, 'public'), built, { recursive: true });
      expectAliased(await visit(await readFolder(built, built), {}));
    });
  });
}
