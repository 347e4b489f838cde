// Parcel needs one setting of its own for packages with several entries (package.json: packageExports).
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { stageOwnWorker, testOwnWorker, testOwnWorkerCopied } from './own_worker.js';
import { expectGpuCopied, expectWork, kSharedApp, stage, versionsOf } from './stage.js';

test.each(versionsOf('parcel'))('Parcel %s: a build works', async (version) => {
  const app = await stage('parcel', { version, shared: kSharedApp });
  await app.run('parcel/lib/bin.js', 'build', 'index.html', '--no-cache', '--public-url', './');
  const built = join(app.folder, 'dist');
  await cp(join(app.folder, 'public'), built, { recursive: true });
  const site = await readFolder(built, built);
  expectWork(await visit(site, kIsolation));
  expectGpuCopied(site);
});

test.each(versionsOf('parcel'))("Parcel %s: a build with the program's own worker works", async (version) => {
  const app = await stageOwnWorker('parcel', version);
  await app.run('parcel/lib/bin.js', 'build', 'index.html', '--no-cache', '--public-url', './');
  const built = join(app.folder, 'dist');
  await testOwnWorker(app, built, '?way=here');
  // Parcel 2.16 gives the package's worker no addresses if another worker starts it.
  await testOwnWorkerCopied(app, built);
});
