import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { kIsolation, readFolder, visit, visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('sveltekit'))('SvelteKit %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    const shared = { 'src/main.js': 'packaging/app/main.js', 'src/work.js': 'browser/page/work.js' };
    app = await stage('sveltekit', { version, shared, models: 'static' });
  });

  test('a build works', async () => {
    await app.run('vite/bin/vite.js', 'build');
    const built = join(app.folder, 'build');
    expectWork(await visit(await readFolder(built, built), kIsolation));
  });

  test('its development server works', async () => {
    await app.visiting(['vite/bin/vite.js', '--host', '127.0.0.1', '--port', 'port'], async (site) => {
      expectWork(await visitServed(site.url, ''), 'relaxed');
      expect(site.words()).not.toMatch(/error/i);
    });
  });
});
