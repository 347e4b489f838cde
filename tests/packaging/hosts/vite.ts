// Vite's older major versions: a build and the development server, without a setting that concerns the package.
import { beforeAll, describe, test } from 'vitest';
import { visitServed } from '../../browser/page/visit.js';
import { expectGpu, expectWork, type Stage, stage } from './stage.js';

export const kSharedApp = {
  'index.html': 'packaging/app/index.html',
  'main.js': 'packaging/app/main.js',
  'work.js': 'browser/page/work.js',
};

export function testVite(name: string): void {
  describe(name, () => {
    let app: Stage;
    beforeAll(async () => {
      app = await stage(name, { shared: kSharedApp });
    });

    test('a build works', async () => {
      await app.run('vite/bin/vite.js', 'build');
      const site = await app.serve('vite/bin/vite.js', 'preview', '--host', '127.0.0.1', '--port', 'port');
      try {
        expectWork(await visitServed(site.url));
        if (name === 'vite7') expectGpu(await visitServed(site.url, '?device=webgpu')); // Minutes, on a busy machine.
      } finally {
        await site.stop();
      }
    });

    test('its development server works', async () => {
      const site = await app.serve('vite/bin/vite.js', '--host', '127.0.0.1', '--port', 'port');
      try {
        expectWork(await visitServed(site.url));
      } finally {
        await site.stop();
      }
    });
  });
}
