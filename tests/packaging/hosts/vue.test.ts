import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectState, withComponents } from './components.js';
import { guideCode } from './guide.js';
import { stage, versionsOf } from './stage.js';

test.each(versionsOf('vue'))("Vue %s: the guide's composable loads, calls, reports failures, and disposes", async (version) => {
  const app = await stage('vue', { version });
  await writeFile(join(app.folder, 'use_pipeline.js'), guideCode('vue').code);
  await withComponents(app, 'main.js', async (page) => {
    const show = (properties: object | null) =>
      page.evaluate((given) => (globalThis as unknown as { show(given: object | null): void }).show(given), properties);
    await show({ model: '/models/classifier/' });
    await expectState(page, /^ready$/);
    await page.click('#state');
    await expectState(page, /^LABEL_\d$/);
    await show(null);
    await expect.poll(() => page.workers().length, { timeout: 30_000 }).toBe(0);
    await show({ model: '/models/missing/' });
    await expectState(page, /config\.json/);
    await show(null);
    await expectState(page, /^nothing$/);
  });
});
