// Parcel: a build. Its one setting is Parcel's own, for packages with several entries (package.json: packageExports).
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { expectGpuCopied, expectWork, type Stage, stage } from './stage.js';
import { kSharedApp } from './vite.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('parcel', { shared: kSharedApp });
});

test('a build works', async () => {
  await app.run('parcel/lib/bin.js', 'build', 'index.html', '--no-cache', '--public-url', './');
  const built = join(app.folder, 'dist');
  await cp(join(app.folder, 'public'), built, { recursive: true });
  const site = await readFolder(built, built);
  expectWork(await visit(site, kIsolation));
  expectGpuCopied(site);
});
