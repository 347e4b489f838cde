// Messages that a page's own code posts to Peruse's worker do not stop it.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readFolder, tinyModels, withPage } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kScript = `
  const workers = [];
  const Real = Worker;
  globalThis.Worker = class extends Real { constructor(...given) { super(...given); workers.push(this); } };
  import('/web/bundle/peruse.js').then(({ pipeline }) => {
    globalThis.work = async (message) => {
      workers.length = 0;
      const classify = await pipeline('text-classification', './models/classifier/', { worker: true });
      const before = await classify('t1 t2 t3');
      for (const worker of workers) worker.postMessage(message);
      const after = await Promise.race([
        classify('t1 t2 t3').catch((error) => String(error)),
        new Promise((resolve) => setTimeout(() => resolve('no answer'), 20_000)),
      ]);
      await classify.dispose();
      return { workers: workers.length, before, after };
    };
  });`;

test('strange messages do not stop a worker', { timeout: 120_000 }, async () => {
  const site = {
    'index.html': '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/strange.js"></script>',
    'strange.js': kScript,
    ...(await readFolder(`${kRoot}web/bundle`, kRoot)),
    ...(await tinyModels()),
  };
  await withPage(site, {}, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.work');
    for (const message of ['null', '1', '"text"', '{}', '[]', '{ verb: "x" }', '{ id: 1, member: 0, verb: "constructor" }']) {
      const { workers, before, after } = (await page.evaluate(`work(${message})`)) as Record<string, unknown>;
      expect.soft(workers, message).toBeGreaterThan(0);
      expect.soft(after, message).toEqual(before);
    }
  });
});
