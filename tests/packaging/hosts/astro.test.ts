import { join } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import { kIsolation, readFolder, visit, visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('astro'))('Astro %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('astro', { version, shared: { 'src/main.js': 'packaging/app/main.js', 'src/work.js': 'browser/page/work.js' } });
  });

  test('a build works', async () => {
    await app.run(app.bin('astro'), 'build');
    const built = join(app.folder, 'dist');
    expectWork(await visit(await readFolder(built, built), kIsolation));
  });

  test('its development server works', async () => {
    await app.visiting([app.bin('astro'), 'dev', '--host', '127.0.0.1', '--port', 'port'], async (site) => {
      expectWork(await visitServed(site.url, ''), 'relaxed');
    });
  });
});
