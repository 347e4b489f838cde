import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectState, withComponents } from './components.js';
import { expectTypes, guideCode } from './guide.js';
import { kNode, runProgram, type Stage, stage, versionsOf } from './stage.js';

const kMount: Record<string, string> = {
  17: "import { render } from 'react-dom';\nexport const mount = (root) => (element) => render(element, root);\n",
  18: "import { createRoot } from 'react-dom/client';\nexport const mount = (root) => { const made = createRoot(root); return (element) => made.render(element); };\n",
};

describe.each(versionsOf('react'))('React %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('react', { version });
    await writeFile(join(app.folder, 'sentiment.jsx'), guideCode('react').code);
    await writeFile(join(app.folder, 'mount.js'), kMount[version] ?? kMount[18]!);
  });

  test("the guide's component loads in strict mode, changes its model, reports failures, and disposes", async () => {
    await withComponents(app, 'main.jsx', async (page) => {
      const show = (properties: object | null) => page.evaluate((given) => (globalThis as unknown as Shows).show(given), properties);
      await show({ text: 't1 t2' });
      await expectState(page, /^LABEL_\d$/);
      await show({ text: 't1 t2', model: '/models/missing/' });
      await expectState(page, /config\.json/);
      await show({ text: 't3', model: '/models/classifier/' });
      await expectState(page, /^LABEL_\d$/);
      await show({ text: 't3', model: null });
      await expectState(page, /^0 %$/);
      await show({ text: 't3' });
      await expect.poll(() => page.workers().length, { timeout: 30_000 }).toBeGreaterThan(0);
      await show(null); // while it loads
      await expectState(page, /^nothing$/);
      await expect.poll(() => page.workers().length, { timeout: 30_000 }).toBe(0);
    });
  });

  test.skipIf(version === '17')("the guide's app answers while its user types", async () => {
    const main = `import { env } from 'peruse';\nenv.filesPath = '/peruse/';\n${guideCode('react_main').code}`;
    await writeFile(join(app.folder, 'app_main.jsx'), main);
    await withComponents(app, 'app_main.jsx', async (page) => {
      await expectState(page, /^LABEL_\d$/);
      await page.locator('textarea').fill('');
      await expectState(page, /empty|LABEL/);
      await page.locator('textarea').pressSequentially('t1 t2 t3');
      await expectState(page, /^LABEL_\d$/);
    });
  });

  test('on a server it is loading, or idle without a source', async () => {
    const output = await runProgram(app.folder, kNode, ['server.mjs']);
    expect(output.replaceAll('&quot;', '"').match(/"status":"\w+"/g)).toEqual(['"status":"loading"', '"status":"idle"']);
  });

  test('types', async () => {
    await expectTypes(
      app,
      'types.tsx',
      `
      import { usePipeline } from 'peruse/react';
      export function Sentiment({ model }: { model: string | null }) {
        const { status, pipeline, error } = usePipeline('sentiment-analysis', model, { dtype: 'q8' });
        if (status === 'error') return <p>{error.message}</p>;
        const classify = async () => (await pipeline?.('A text.'))?.[0]?.label.toUpperCase();
        return <button onClick={() => void classify()}>{status}</button>;
      }`,
    );
  });
});

interface Shows {
  show(properties: object | null): void;
}
