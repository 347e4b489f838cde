// React Router as a framework: a single-page app, and the development server.
import { beforeAll, test } from 'vitest';
import { visitServed } from '../../browser/page/visit.js';
import { expectWork, type Stage, stage } from './stage.js';

let app: Stage;
beforeAll(async () => {
  app = await stage('react_router', { shared: { 'app/main.js': 'packaging/app/main.js', 'app/work.js': 'browser/page/work.js' } });
});

test('a build works', async () => {
  await app.run('@react-router/dev/bin.js', 'build');
  const site = await app.serve('vite/bin/vite.js', 'preview', '--outDir', 'build/client', '--host', '127.0.0.1', '--port', 'port');
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
  } finally {
    await site.stop();
  }
});

test('its development server works', async () => {
  const site = await app.serve('@react-router/dev/bin.js', 'dev', '--host', '127.0.0.1', '--port', 'port');
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
  } finally {
    await site.stop();
  }
});
