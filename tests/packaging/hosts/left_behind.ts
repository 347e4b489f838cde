// Tests of bundlers that omit the package's workers and WebAssembly: the error names the remedies, and each remedy works.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { kThreads, type Stage, stage } from './stage.js';

const kGood = { labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } };

export const kLeftBehind = {
  'main.js': 'packaging/app/left_behind.js',
  'work.js': 'browser/page/work.js',
  'index.html': 'packaging/app/index.html',
};

/** Bundles the app with `bundle`, which writes main.js into the folder `out`. */
export async function testLeftBehind(name: string, version: string, bundle: (app: Stage, out: string) => Promise<unknown>): Promise<void> {
  const app = await stage(name, { version, shared: kLeftBehind });
  const out = join(app.folder, 'out');
  await bundle(app, out);
  await cp(join(app.folder, 'index.html'), join(out, 'index.html'));
  await cp(join(app.folder, 'public'), out, { recursive: true });
  await expectThreeWays(app.folder, out);
}

/** `app` is the app's folder; `built` is the bundled site with the models. */
export async function expectThreeWays(app: string, built: string): Promise<void> {
  const site = await readFolder(built, built);
  const { result: failure } = await visit(site, kIsolation);
  expect(failure.code).toBe('worker_died');
  expect(failure.message).toMatch(/http:\/\/127\.0\.0\.1:\d+\/\S*peruse-worker\.js/);
  expect(failure.message).toContain("run 'npx peruse copy-files public/peruse' and set env.filesPath = '/peruse/'");

  const bin = join(app, 'node_modules/peruse/web/dist/cli/main.js');
  await promisify(execFile)(process.execPath, [bin, 'copy-files', join(built, 'peruse')]);
  const { result: files } = await visit(await readFolder(built, built), kIsolation, '?way=files');
  expect(files).toMatchObject({ ...kGood, worker: true, variant: kThreads });

  const { result: inline, requests } = await visit(site, kIsolation, '?way=inline');
  expect(inline).toMatchObject({ ...kGood, worker: true, variant: kThreads.replace('relaxed', 'simd') });
  expect(requests.filter((path) => /\.wasm$|worker/.test(path))).toEqual([]);
}
