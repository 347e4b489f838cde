// Next.js with `output: 'standalone'`, as in a Docker image: the server runs from a folder that holds only the files that the build copied.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visitServed } from '../../browser/page/visit.js';
import { expectWork, freePort, kNode, type Served, type Stage, served, stage } from './stage.js';

let app: Stage;
let place: string;
beforeAll(async () => {
  app = await stage('next', { shared: { 'main.js': 'packaging/app/main.js', 'work.js': 'browser/page/work.js' } });
  place = await mkdtemp(join(tmpdir(), 'peruse-next-'));
});
afterAll(() => rm(place, { recursive: true }));

describe.each([
  ['Turbopack', []],
  ['webpack', ['--webpack']],
])('%s', (bundler, flags) => {
  let site: Served;
  beforeAll(async () => {
    await rm(join(app.folder, '.next'), { recursive: true, force: true });
    await app.run('next/dist/bin/next', 'build', ...flags);
    const folder = join(place, bundler);
    await cp(join(app.folder, '.next/standalone'), folder, { recursive: true });
    await cp(join(app.folder, '.next/static'), join(folder, '.next/static'), { recursive: true });
    await cp(join(app.folder, 'public'), join(folder, 'public'), { recursive: true });
    const port = await freePort();
    const environment = { ...process.env, NODE_ENV: 'production' as const, PORT: String(port), HOSTNAME: '127.0.0.1' };
    site = await served(spawn(kNode, ['server.js'], { cwd: folder, env: environment }), `http://127.0.0.1:${port}/`);
  });
  afterAll(() => site?.stop());

  test('a page works', async () => {
    expectWork(await visitServed(site.url, ''), 'relaxed');
  });

  test.each(['false', 'true'])('a route handler works (in a worker: %s)', async (worker) => {
    const model = encodeURIComponent(join(app.folder, 'public/models/classifier'));
    const response = await fetch(`${site.url}api/classify?text=t1&worker=${worker}&model=${model}`);
    expect(response.ok, site.words()).toBe(true);
    expect(await response.json()).toMatchObject({ labels: [{ label: expect.stringMatching(/^LABEL_/) }] });
    expect(site.words()).not.toMatch(/error|uncaught|unhandled/i);
  });
});
