// Nuxt: a page and a server route, from a folder with only the build, and on the development server.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visitServed } from '../../browser/page/visit.js';
import { expectWork, freePort, kNode, type Served, type Stage, served, stage, versionsOf } from './stage.js';

describe.each(versionsOf('nuxt'))('Nuxt %s', (version) => {
  let app: Stage;
  let place: string;
  beforeAll(async () => {
    app = await stage('nuxt', { version, shared: { 'main.js': 'packaging/app/main.js', 'work.js': 'browser/page/work.js' } });
    place = await mkdtemp(join(tmpdir(), 'peruse-nuxt-'));
  });
  afterAll(() => rm(place, { recursive: true }));

  async function expectPageAndRoute(site: Served): Promise<void> {
    expectWork(await visitServed(site.url, ''), 'relaxed');
    const model = encodeURIComponent(join(app.folder, 'public/models/classifier'));
    const found = await (await fetch(`${site.url}api/classify?text=t1&model=${model}`)).json();
    expect(found).toMatchObject({ labels: [{ label: expect.stringMatching(/^LABEL_/) }] });
  }

  test('a build works, as a page and as a server route', async () => {
    await app.run('nuxt/bin/nuxt.mjs', 'build');
    await cp(join(app.folder, '.output'), join(place, '.output'), { recursive: true });
    const port = await freePort();
    const child = spawn(kNode, ['.output/server/index.mjs'], {
      cwd: place,
      env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
    });
    const site = await served(child, `http://127.0.0.1:${port}/`);
    try {
      await expectPageAndRoute(site);
    } finally {
      await site.stop();
    }
  });

  test('its development server works', async () => {
    await app.visiting(['nuxt/bin/nuxt.mjs', 'dev', '--host', '127.0.0.1', '--port', 'port'], expectPageAndRoute);
  });
});
