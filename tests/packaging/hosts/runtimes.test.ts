import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tinyModels } from '../../browser/page/visit.js';
import { type ModelServer, startModelServer } from '../../node/support/model_server.js';

const { folder } = inject('installed');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const kDeno = here('../node_modules/@deno/linux-x64-glibc/deno');
const kBun = here('../node_modules/@oven/bun-linux-x64/bin/bun');
const kWorkerd = here('../node_modules/@cloudflare/workerd-linux-64/bin/workerd');
const kModel = 'models/peruse-sentiment-convbert-tiny';

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'peruse-runtimes-'));
});
afterAll(() => rm(place, { recursive: true }));

// npm installs Deno and Bun only on some machines.
describe.skipIf(!existsSync(kDeno))('Deno and Bun', () => {
  test.each([
    ['deno', kDeno, ['run', '-A', '--node-modules-dir=manual']],
    ['bun', kBun, ['run']],
  ])('%s runs it: in a worker, with threads and without', async (_, program, args) => {
    const script = join(folder, 'runtimes.mjs');
    await writeFile(
      script,
      `import { pipeline } from 'peruse';
      for (const options of [{}, { worker: true }, { threads: 1 }]) {
        const classify = await pipeline('text-classification', '${kModel}', options);
        console.log((await classify('A gem.'))[0].label, classify.info.worker);
        await classify.dispose();
      }`,
    );
    const env = { ...process.env, DENO_DIR: join(place, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
    const run = spawnSync(program, [...args, script], { cwd: folder, encoding: 'utf8', env });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({
      status: 0,
      out: 'POSITIVE true\nPOSITIVE true\nPOSITIVE true\n',
    });
  });
});

describe.skipIf(!existsSync(kWorkerd))('workerd', () => {
  let models: ModelServer;
  beforeAll(async () => {
    models = await startModelServer(await tinyModels());
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors']) await cp(join(folder, kModel, file), join(place, file));
    for (const file of ['peruse-service-worker.js', 'peruse-simd.wasm', 'peruse-tokenizer.js', 'peruse-tokenizer.wasm']) {
      await cp(join(folder, 'node_modules/peruse/web/bundle', file), join(place, file));
    }
    for (const file of ['worker.js', 'config.capnp', 'guide.capnp']) await cp(here(`workerd/${file}`), join(place, file));
    const guide = readFileSync(here('../../../docs/guides/cloudflare-workers.md'), 'utf8');
    await writeFile(join(place, 'guide.js'), /```js cloudflare\n([\s\S]*?)```/.exec(guide)![1]!);
    await cp(join(folder, kModel), join(place, 'assets/model'), { recursive: true });
  });
  const stops: (() => void)[] = [];
  afterAll(async () => {
    for (const stop of stops) stop();
    await models.close();
  });

  async function serve(config: string): Promise<string> {
    const child = spawn(kWorkerd, ['serve', config, '--socket-addr=http=127.0.0.1:0', '--control-fd=3'], {
      cwd: place,
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    stops.push(() => void child.kill());
    const port = await new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`workerd ended with ${code}`)));
      child.stdio[3]!.on('data', (words: Buffer) => {
        for (const line of String(words).trim().split('\n')) {
          const { event, port: found } = JSON.parse(line) as { event: string; port: number };
          if (event === 'listen') resolve(found);
        }
      });
    });
    return `http://127.0.0.1:${port}/`;
  }

  test('runs a build that is handed in compiled, with a model of its own', async () => {
    const response = await fetch(await serve('config.capnp'));
    expect(await response.json()).toEqual({ label: 'POSITIVE', worker: false, threads: 1, tokens: expect.any(Number) });
  });

  test('loads a model from a server', async () => {
    const response = await fetch(`${await serve('config.capnp')}?model=${encodeURIComponent(`${models.url}models/classifier/`)}`);
    expect(await response.json()).toMatchObject({ label: expect.stringMatching(/^LABEL_/) });
  });

  test("runs the guide's worker, whose model is among its static assets, for several requests", async () => {
    const url = await serve('guide.capnp');
    for (const text of ['A gem.', 'A wonderful, moving film.']) {
      const response = await fetch(url, { method: 'POST', body: text });
      expect(await response.json()).toEqual([{ label: 'POSITIVE', score: expect.any(Number) }]);
    }
  });
});
