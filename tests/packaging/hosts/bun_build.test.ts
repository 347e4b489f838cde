import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'vitest';
import { testLeftBehind } from './left_behind.js';
import { runProgram } from './stage.js';

const kBun = fileURLToPath(new URL('../node_modules/@oven/bun-linux-x64/bin/bun', import.meta.url));

test.skipIf(!existsSync(kBun))('bun build', async () => {
  await testLeftBehind('bun_build', '', (app, out) => runProgram(app.folder, kBun, ['build', 'main.js', `--outdir=${out}`]));
});
