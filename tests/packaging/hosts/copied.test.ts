// A copy of node_modules for a server image, without declarations, source maps, demo page and browser files.
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runProgram } from './stage.js';

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'peruse-copied-'));
  const { folder } = inject('installed');
  await cp(join(folder, 'node_modules'), join(place, 'node_modules'), {
    recursive: true,
    filter: (path) => !/\.d\.c?ts$|\.map$|\/web\/demo$|\/web\/bundle\/.*\.js$|\.bin$|\.md$/.test(path),
  });
  await cp(join(folder, 'models/peruse-sentiment-convbert-tiny'), join(place, 'model'), { recursive: true });
});
afterAll(() => rm(place, { recursive: true }));

test.each(['{}', '{ worker: true }', '{ threads: 1 }'])('answers with %s', async (options) => {
  const script = join(place, 'server.mjs');
  await writeFile(
    script,
    `import { pipeline } from 'peruse';
    const classify = await pipeline('text-classification', 'model', ${options});
    console.log((await classify('A gem.'))[0].label);
    await classify.dispose();`,
  );
  expect(await runProgram(place, process.execPath, [script])).toBe('POSITIVE\n');
});
