// Next.js: its default build and its webpack build; the package in a client component, in a server component and in a route.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { tinyModels, visitServed } from '../browser/page/visit.js';

const { folder: installed } = inject('installed');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const kApp = here('work/next'); // Below tests/packaging, where Next itself is installed.
const kNext = here('node_modules/next/dist/bin/next');
const environment = { ...process.env, NODE_ENV: 'production' as const, NEXT_TELEMETRY_DISABLED: '1', NEXT_ROOT: here('.') };

beforeAll(async () => {
  await rm(kApp, { recursive: true, force: true });
  await cp(here('next'), kApp, { recursive: true });
  await cp(here('../browser/page/work.js'), join(kApp, 'work.js'));
  await cp(join(installed, 'node_modules/peruse'), join(kApp, 'node_modules/peruse'), { recursive: true });
  await writeFile(join(kApp, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  for (const [path, content] of Object.entries(await tinyModels())) {
    const file = join(kApp, 'public', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content as Uint8Array);
  }
});
afterAll(() => rm(kApp, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

async function start(): Promise<{ url: string; child: ChildProcess; words: () => string }> {
  const port = await freePort();
  const child = spawn(process.execPath, [kNext, 'start', '-p', String(port), '-H', '127.0.0.1'], { cwd: kApp, env: environment });
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (some) => {
      words += some;
    });
  }
  for (let waited = 0; !words.includes('Ready'); waited += 100) {
    if (waited > 60_000 || child.exitCode !== null) throw new Error(`next start: ${words}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url: `http://127.0.0.1:${port}/`, child, words: () => words };
}

describe.each([
  ['the default build', []],
  ['the webpack build', ['--webpack']],
])('%s', (_, flags) => {
  let site: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    await rm(join(kApp, '.next'), { recursive: true, force: true });
    await promisify(execFile)(process.execPath, [kNext, 'build', ...flags], { cwd: kApp, env: environment });
    site = await start();
  }, 600_000);
  afterAll(() => void site?.child.kill());

  test('works in a client component, in a worker and with threads', async () => {
    const { result, elsewhere, complaints } = await visitServed(site.url, '');
    expect(result).toMatchObject({
      worker: true,
      variant: availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed',
      labels: [{ label: expect.any(String) }],
      best: { answer: expect.any(String) },
    });
    expect(elsewhere).toEqual([]);
    expect(complaints.filter((line) => !/404/.test(line))).toEqual([]);
  });

  test('works in a server component and in a route handler', async () => {
    expect(await (await fetch(`${site.url}server`)).text()).toMatch(/<p id="label">LABEL_\d/);
    expect(await (await fetch(`${site.url}api/classify?text=t1`)).json()).toEqual([
      { label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) },
    ]);
    expect(site.words()).not.toMatch(/error|uncaught|unhandled/i);
  });
});
