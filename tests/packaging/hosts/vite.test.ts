import { join } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import { readFolder, visit, visitServed } from '../../browser/page/visit.js';
import { expectAliased, stageAliased } from './aliased.js';
import { expectOwnWorker, stageOwnWorker, testOwnWorker } from './own_worker.js';
import { expectGpu, expectWork, kSharedApp, type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('vite'))('Vite %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('vite', { version, shared: kSharedApp });
  });

  test('a build works', async () => {
    await app.run('vite/bin/vite.js', 'build');
    await app.visiting(['vite/bin/vite.js', 'preview', '--host', '127.0.0.1', '--port', 'port'], async (site) => {
      expectWork(await visitServed(site.url));
      if (version === '7') expectGpu(await visitServed(site.url, '?device=webgpu')); // takes minutes on a busy machine
    });
  });

  test('its development server works', async () => {
    await app.visiting(['vite/bin/vite.js', '--host', '127.0.0.1', '--port', 'port'], async (site) => {
      expectWork(await visitServed(site.url));
    });
  });
});

describe.each(versionsOf('vite'))("a program's own worker in Vite %s", (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stageOwnWorker('vite', version);
  });

  test('a build works', async () => {
    await app.run('vite/bin/vite.js', 'build');
    await testOwnWorker(app, join(app.folder, 'dist'));
  });

  test('its development server works', async () => {
    await app.visiting(['vite/bin/vite.js', '--host', '127.0.0.1', '--port', 'port'], async (site) => {
      expectOwnWorker(await visitServed(site.url), true);
    });
  });
});

test.each(versionsOf('vite'))('a build with an alias for transformers.js in Vite %s works', async (version) => {
  const app = await stageAliased('vite', version);
  await app.run('vite/bin/vite.js', 'build');
  const built = join(app.folder, 'dist');
  expectAliased(await visit(await readFolder(built, built), {}));
});
