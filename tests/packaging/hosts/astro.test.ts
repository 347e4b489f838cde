// Astro: a static site, and the development server.
import { join } from 'node:path';
import { beforeAll, test } from 'vitest';
import { kIsolation, readFolder, visit, visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('astro', { shared: { 'src/main.js': 'packaging/app/main.js', 'src/work.js': 'browser/page/work.js' } });
});

test('a build works', async () => {
  await app.run('astro/astro.js', 'build');
  const built = join(app.folder, 'dist');
  expectWork(await visit(await readFolder(built, built), kIsolation));
});

test('its development server works', async () => {
  const site = await app.serve('astro/astro.js', 'dev', '--host', '127.0.0.1', '--port', 'port');
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
  } finally {
    await site.stop();
  }
});
