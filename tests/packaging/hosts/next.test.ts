// Next.js with `output: 'standalone'`, as in a Docker image, with the package in a client component, a server component and a route handler, and in
// the worker of a program for transformers.js.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visitServed, withServed } from '../../browser/page/visit.js';
import { useAlias } from './guide.js';
import { expectWork, freePort, kNode, type Served, type Stage, served, stage, versionsOf } from './stage.js';

const kSentiment = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny/', import.meta.url));

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'peruse-next-'));
});
afterAll(() => rm(place, { recursive: true }));

const kBuilds: Record<string, Record<string, string[]>> = {
  14: { webpack: [] },
  15: { Turbopack: ['--turbopack'], webpack: [] },
  16: { Turbopack: [], webpack: ['--webpack'] },
};

const builds = versionsOf('next').flatMap((version) =>
  Object.entries(kBuilds[version]!).map(([bundler, flags]) => ({ version, bundler, flags })),
);

describe.each(builds)('Next $version, $bundler', ({ version, bundler, flags }) => {
  let app: Stage;
  let site: Served;
  beforeAll(async () => {
    app = await stage('next', { version, shared: { 'main.js': 'packaging/app/main.js', 'work.js': 'browser/page/work.js' } });
    await useAlias(app);
    await cp(kSentiment, join(app.folder, 'public/models/sentiment'), { recursive: true });
    await app.run('next/dist/bin/next', 'build', ...flags);
    const folder = join(place, version + bundler);
    await cp(join(app.folder, '.next/standalone'), folder, { recursive: true });
    await cp(join(app.folder, '.next/static'), join(folder, '.next/static'), { recursive: true });
    await cp(join(app.folder, 'public'), join(folder, 'public'), { recursive: true });
    const port = await freePort();
    const environment = { ...process.env, NODE_ENV: 'production' as const, PORT: String(port), HOSTNAME: '127.0.0.1' };
    site = await served(spawn(kNode, ['server.js'], { cwd: folder, env: environment }), `http://127.0.0.1:${port}/`);
  });
  afterAll(() => site?.stop());

  test('a client component works', async () => {
    expectWork(await visitServed(site.url, ''));
  });

  test('a worker of the page answers an opinion, and a cleared field', async () => {
    await withServed(`${site.url}feedback`, async (page) => {
      const failed = new Promise<never>((_, reject) => {
        page.on('worker', (worker) => worker.on('console', (message) => reject(new Error(message.text()))));
        page.on('pageerror', reject);
      });
      for (const text of ['A gem of a film.', '']) {
        await page.fill('#opinion', text);
        const shown = page.waitForFunction((typed) => {
          const answer = JSON.parse(document.querySelector('#answer')!.textContent!) as { text: string } | null;
          return answer?.text === typed && answer;
        }, text);
        const answer = await (await Promise.race([shown, failed])).jsonValue();
        expect(answer).toMatchObject({ output: [{ label: expect.stringMatching(/^(POSITIVE|NEGATIVE)$/), score: expect.any(Number) }] });
      }
    });
  });

  test('a server component works', async () => {
    expect(await (await fetch(`${site.url}server`)).text()).toMatch(/<p id="label">LABEL_\d/);
  });

  test('route handlers work, in a worker and without', async () => {
    const model = encodeURIComponent(join(app.folder, 'public/models/classifier'));
    for (const path of ['api/classify?text=t1', `api/here?text=t1&model=${model}`]) {
      const response = await fetch(site.url + path);
      expect(response.ok, site.words()).toBe(true);
      expect(await response.json()).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
    }
    expect(site.words()).not.toMatch(/error|uncaught|unhandled/i);
  });
});
