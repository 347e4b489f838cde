import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'vitest';
import { testLeftBehind } from './left_behind.js';
import { versionsOf } from './stage.js';

test.each(versionsOf('rollup'))('Rollup %s', async (version) => {
  await testLeftBehind('rollup', version, async (app, out) => {
    const installed = (path: string) => import(pathToFileURL(join(app.folder, 'node_modules', path)).href);
    const { rollup } = await installed('rollup/dist/es/rollup.js');
    const { nodeResolve } = await installed('@rollup/plugin-node-resolve/dist/es/index.js');
    const bundle = await rollup({ input: join(app.folder, 'main.js'), plugins: [nodeResolve({ browser: true })] });
    await bundle.write({ dir: out, format: 'es' });
  });
});
