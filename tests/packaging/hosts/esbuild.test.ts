import { join } from 'node:path';
import { describe, test } from 'vitest';
import { testLeftBehind } from './left_behind.js';
import { stageOwnWorker, testOwnWorkerLeftBehind } from './own_worker.js';
import { versionsOf } from './stage.js';

describe.each(versionsOf('esbuild'))('esbuild %s', (version) => {
  test.each([
    ['one file', (out: string) => [`--outfile=${join(out, 'main.js')}`]],
    ['with splitting', (out: string) => ['--splitting', `--outdir=${out}`]],
  ])('%s', async (_, flags) => {
    await testLeftBehind('esbuild', version, (app, out) =>
      app.run('esbuild/bin/esbuild', 'main.js', '--bundle', '--format=esm', '--log-level=error', ...flags(out)),
    );
  });

  test("the program's own worker", async () => {
    const app = await stageOwnWorker('esbuild', version);
    const out = join(app.folder, 'out');
    await app.run('esbuild/bin/esbuild', 'main.js', 'worker.js', '--bundle', '--format=esm', '--log-level=error', `--outdir=${out}`);
    await testOwnWorkerLeftBehind(app, out);
  });
});
