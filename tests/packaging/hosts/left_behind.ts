// What holds for bundlers that leave the package's files behind.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { kIsolation, readFolder, visit } from '../../browser/page/visit.js';
import { kThreads } from './stage.js';

const kGood = { labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } };

/** `app`: the app's folder. `built`: the site that the bundler has made of left-behind/main.js, models included. */
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
