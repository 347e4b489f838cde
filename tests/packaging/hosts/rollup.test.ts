import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, test } from 'vitest';
import { testLeftBehind } from './left_behind.js';
import { stageOwnWorker, testOwnWorkerLeftBehind } from './own_worker.js';
import { type Stage, versionsOf } from './stage.js';

async function build(app: Stage, out: string, ...scripts: string[]): Promise<void> {
  const installed = (path: string) => import(pathToFileURL(join(app.folder, 'node_modules', path)).href);
  const { rollup } = await installed('rollup/dist/es/rollup.js');
  const { nodeResolve } = await installed('@rollup/plugin-node-resolve/dist/es/index.js');
  const bundle = await rollup({ input: scripts.map((script) => join(app.folder, script)), plugins: [nodeResolve({ browser: true })] });
  await bundle.write({ dir: out, format: 'es' });
}

describe.each(versionsOf('rollup'))('Rollup %s', (version) => {
  test('a page', () => testLeftBehind('rollup', version, (app, out) => build(app, out, 'main.js')));

  test("the program's own worker", async () => {
    const app = await stageOwnWorker('rollup', version);
    const out = join(app.folder, 'out');
    await build(app, out, 'main.js', 'worker.js');
    await testOwnWorkerLeftBehind(app, out);
  });
});
