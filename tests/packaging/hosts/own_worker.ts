// Tests of a program's own worker: a pipeline works in that worker, and starts a second one only on request.
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { kIsolation, readFolder, type Visit, visit } from '../../browser/page/visit.js';
import { kThreads, type Stage, stage } from './stage.js';

/** Files of the program: paths in tests/. */
const kOwnWorker = {
  'index.html': 'packaging/app/index.html',
  'main.js': 'packaging/app/own_worker/main.js',
  'worker.js': 'packaging/app/own_worker/worker.js',
};

const kGood = {
  labels: [{ label: expect.any(String) }],
  worker: false,
  streamed: 2,
  text: 'Mail [EMAIL_1]',
  hit: 't3',
  stored: expect.any(Number),
  asked: true,
};

export const stageOwnWorker = (name: string, version: string) => stage(name, { version, shared: kOwnWorker });

/** On an isolated page the engine has threads, which are workers. On others it starts none. */
export function expectOwnWorker({ result, elsewhere, complaints }: Omit<Visit, 'requests'>, isIsolated: boolean): void {
  expect(result).toMatchObject({ ...kGood, variant: isIsolated ? kThreads : 'relaxed' });
  expect(result.workers).toBeLessThan(isIsolated ? availableParallelism() : 1);
  expect(elsewhere).toEqual([]);
  expect(complaints.filter((line) => !/404|^\[vite\] connect/.test(line))).toEqual([]);
}

/** Visits the built page on a plain and on an isolated server. */
export async function testOwnWorker(app: Stage, built: string, query = ''): Promise<void> {
  await cp(join(app.folder, 'public'), built, { recursive: true });
  const site = await readFolder(built, built);
  expectOwnWorker(await visit(site, {}, query), false);
  expectOwnWorker(await visit(site, kIsolation, query), true);
}

/** For bundlers that omit the package's files: the error names the remedy, which works. */
export async function testOwnWorkerLeftBehind(app: Stage, built: string): Promise<void> {
  await cp(join(app.folder, 'index.html'), join(built, 'index.html'));
  await cp(join(app.folder, 'public'), built, { recursive: true });
  const { result } = await visit(await readFolder(built, built), {});
  expect(result).toEqual({ code: 'no_wasm', message: expect.stringMatching(/peruse-host\.js.*npx peruse copy-files/) });
  await testOwnWorkerCopied(app, built);
}

export async function testOwnWorkerCopied(app: Stage, built: string): Promise<void> {
  const bin = join(app.folder, 'node_modules/peruse/web/dist/cli/main.js');
  await promisify(execFile)(process.execPath, [bin, 'copy-files', join(built, 'peruse')]);
  await testOwnWorker(app, built, '?way=files');
}
