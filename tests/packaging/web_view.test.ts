// Apps in a web view (WebKitGTK, as for Tauri on Linux) with schemes of their own: Tauri (tauri:), Capacitor (capacitor:), Electron (app:).
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startScreen, webKitEnvironment } from '../browser/others/webkit.js';
import { tinyModels } from '../browser/page/visit.js';

const { folder } = inject('installed');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let place: string;
let app: string;
let screen: Awaited<ReturnType<typeof startScreen>>;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'peruse-web-view-'));
  app = join(place, 'app');
  await cp(join(folder, 'node_modules/peruse/web/bundle'), join(app, 'peruse'), { recursive: true });
  await cp(here('../browser/page/work.js'), join(app, 'work.js'));
  for (const [path, content] of Object.entries(await tinyModels())) {
    await mkdir(dirname(join(app, path)), { recursive: true });
    await writeFile(join(app, path), content as Uint8Array);
  }
  await writeFile(
    join(app, 'index.html'),
    `<!doctype html><meta charset="utf-8"><script type="module">
      async function run() {
        const { pipeline } = await import('./peruse/peruse.js');
        const { work } = await import('./work.js');
        const missing = await pipeline('text-classification', './models/none/').catch((error) => error.code);
        return { ...(await work(pipeline)), missing, from: location.protocol };
      }
      run().catch((error) => ({ error: String(error) })).then((found) => { document.title = JSON.stringify(found); });
    </script>`,
  );
  screen = await startScreen();
});
afterAll(async () => {
  screen?.child.kill();
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
});

test.each(['app', 'tauri', 'capacitor'])('%s: works in a worker', async (scheme) => {
  const env = webKitEnvironment(screen.display, join(place, `home-${scheme}`));
  const { stdout } = await promisify(execFile)('python3', [here('places/web_view.py'), scheme, app], { env });
  const found = JSON.parse(stdout) as Record<string, unknown>;
  expect(found).toMatchObject({
    from: `${scheme}:`,
    worker: true,
    variant: expect.stringMatching(/^(simd|relaxed)$/),
    labels: [{ label: expect.stringMatching(/^LABEL_/) }],
    best: { answer: expect.any(String) },
    missing: 'not_found',
  });
});
