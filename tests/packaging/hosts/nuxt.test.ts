// Nuxt: a page and a server route, built, and run from a folder that holds nothing but the build; and the development server.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitServed } from '../../browser/page/visit.js';
import { expectWork, freePort, kNode, type Served, type Stage, served, stage } from './stage.js';

let app: Stage;
let place: string;
beforeAll(async () => {
  app = await stage('nuxt', { shared: { 'main.js': 'packaging/app/main.js', 'work.js': 'browser/page/work.js' } });
  place = await mkdtemp(join(tmpdir(), 'peruse-nuxt-'));
});
afterAll(() => rm(place, { recursive: true }));

async function expectRoute(site: Served): Promise<void> {
  const model = encodeURIComponent(join(app.folder, 'public/models/classifier'));
  const found = await (await fetch(`${site.url}api/classify?text=t1&model=${model}`)).json();
  expect(found).toMatchObject({ labels: [{ label: expect.stringMatching(/^LABEL_/) }] });
}

test('a build works, as a page and as a server route', async () => {
  await app.run('nuxt/bin/nuxt.mjs', 'build');
  await cp(join(app.folder, '.output'), join(place, '.output'), { recursive: true });
  const port = await freePort();
  const child = spawn(kNode, ['.output/server/index.mjs'], { cwd: place, env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' } });
  const site = await served(child, `http://127.0.0.1:${port}/`);
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
    await expectRoute(site);
  } finally {
    await site.stop();
  }
});

test('its development server works', async () => {
  const site = await app.serve('nuxt/bin/nuxt.mjs', 'dev', '--host', '127.0.0.1', '--port', 'port');
  try {
    expectWork(await visitServed(site.url, ''), 'relaxed');
    await expectRoute(site);
  } finally {
    await site.stop();
  }
});
