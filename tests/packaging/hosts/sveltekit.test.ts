// SvelteKit: a static site, and the development server.
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { kIsolation, readFolder, visit, visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('sveltekit', {
    shared: { 'src/main.js': 'packaging/app/main.js', 'src/work.js': 'browser/page/work.js' },
    models: 'static',
  });
});

test('a build works', async () => {
  await app.run('vite/bin/vite.js', 'build');
  const built = join(app.folder, 'build');
  expectWork(await visit(await readFolder(built, built), kIsolation));
});

test('its development server works', async () => {
  const site = await app.serve('vite/bin/vite.js', '--host', '127.0.0.1', '--port', 'port');
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
    expect(site.words()).not.toMatch(/error/i);
  } finally {
    await site.stop();
  }
});
