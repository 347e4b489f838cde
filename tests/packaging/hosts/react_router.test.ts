import { beforeAll, describe, test } from 'vitest';
import { openServed, visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage, versionsOf } from './stage.js';

describe.each(versionsOf('react_router'))('React Router %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    const shared = { 'app/main.js': 'packaging/app/main.js', 'app/work.js': 'browser/page/work.js' };
    app = await stage('react_router', { version, shared });
  });

  test('a build works', async () => {
    await app.run(app.bin('@react-router/dev', 'react-router'), 'build');
    const preview = ['vite/bin/vite.js', 'preview', '--outDir', 'build/client', '--host', '127.0.0.1', '--port', 'port'];
    await app.visiting(preview, async (site) => expectWork(await visitServed(site.url, ''), 'relaxed'));
  });

  test('its development server works', async () => {
    const server = [app.bin('@react-router/dev', 'react-router'), 'dev', '--host', '127.0.0.1', '--port', 'port'];
    await app.visiting(server, async (site) => {
      await openServed(site.url); // Vite knows the packages of React Router's pages only once a page asked for them.
      expectWork(await visitServed(site.url, ''), 'relaxed');
    });
  });
});
