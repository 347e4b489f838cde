import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { guideCode } from './guide.js';
import { kNode, runProgram, stage, versionsOf } from './stage.js';

test.each(versionsOf('svelte'))("Svelte %s: the guide's store loads, calls, reports failures, and disposes", async (version) => {
  const app = await stage('svelte', { version });
  await writeFile(join(app.folder, 'pipeline_store.mjs'), guideCode('svelte').code);
  const found = JSON.parse(await runProgram(app.folder, kNode, ['use.mjs'])) as object;
  expect(found).toEqual({ label: expect.stringMatching(/^LABEL_/), shared: true, code: 'disposed', missing: 'not_found' });
});
