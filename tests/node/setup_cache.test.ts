// Set-ups that run in parallel, are killed, or run under different Node versions do not damage their common cache.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const kTools = new URL('../../tools/setup/', import.meta.url).href;

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'peruse-setup-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

function setUp(milliseconds: number, key = 'one', fault = ''): ChildProcess {
  return spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `
    import { appendFileSync, writeFileSync } from 'node:fs';
    import { cachedFolder } from '${kTools}cache.mjs';
    const { folder, fresh } = cachedFolder('thing', '${key}', (partial) => {
      appendFileSync('${join(cache, 'log')}', 'filled\\n');
      writeFileSync(partial + '/first', '${key}');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${milliseconds});
      ${fault}
      writeFileSync(partial + '/second', '${key}');
    });
    process.stdout.write(JSON.stringify({ folder, fresh }) + '\\n');
  `,
    ],
    { env: { ...process.env, PERUSE_CACHE: cache }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
}

function outcome(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout!.on('data', (text) => {
    out += text;
  });
  child.stderr!.on('data', (text) => {
    err += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

const fillings = () => readFileSync(join(cache, 'log'), 'utf8').split('\n').length - 1;

function whole(key: string) {
  expect(readdirSync(join(cache, 'thing')).sort()).toEqual(['.peruse-key', 'first', 'second']);
  for (const file of ['.peruse-key', 'first', 'second']) expect(readFileSync(join(cache, 'thing', file), 'utf8')).toBe(key);
  expect(readdirSync(cache).sort()).toEqual(['log', 'thing']);
}

test('of several at once one fills the folder and all get it', async () => {
  const ends = await Promise.all([1, 2, 3, 4].map(() => outcome(setUp(500))));
  expect(ends.map(({ code, err }) => ({ code, err }))).toEqual(Array(4).fill({ code: 0, err: '' }));
  expect(ends.filter(({ out }) => out.includes('"fresh":true'))).toHaveLength(1);
  expect(fillings()).toBe(1);
  whole('one');
});

test('one that is killed leaves nothing that stops the next', async () => {
  const killed = setUp(60_000);
  await expect.poll(() => readdirSync(cache), { timeout: 20_000 }).toContain('log');
  killed.kill('SIGKILL');
  await outcome(killed);
  expect(await outcome(setUp(0))).toMatchObject({ code: 0, err: '' });
  expect(fillings()).toBe(2);
  whole('one');
});

test('one that fails lets the others go on', async () => {
  const failing = outcome(setUp(500, 'one', 'throw new Error("no network");'));
  await expect.poll(() => readdirSync(cache), { timeout: 20_000 }).toContain('log');
  const waiting = outcome(setUp(0));
  expect((await failing).err).toContain('no network');
  expect(await waiting).toMatchObject({ code: 0, err: '' });
  whole('one');
});

test('a folder for another key is replaced', async () => {
  await outcome(setUp(0, 'one'));
  expect((await outcome(setUp(0, 'two'))).out).toContain('"fresh":true');
  whole('two');
});

test('a lock of another machine is waited for', async () => {
  writeFileSync(join(cache, 'thing.lock'), `1 not-${hostname()}`);
  const waiting = setUp(0);
  const end = outcome(waiting);
  await new Promise((resolve) => {
    waiting.stdout!.once('data', resolve);
  });
  rmSync(join(cache, 'thing.lock'));
  expect((await end).out).toMatch(/^waiting for another set-up \.\.\. \{.*"fresh":true\}\n$/);
});

test("Emscripten's folder is the same under every Node", async () => {
  const { emscriptenKey, isSameEmscripten } = (await import(`${kTools}emscripten_debian.mjs`)) as {
    emscriptenKey(): string;
    isSameEmscripten(found: string): boolean;
  };
  const key = emscriptenKey();
  expect(key).not.toContain(process.execPath);
  expect(isSameEmscripten(key)).toBe(true);
  const [packages, layout] = JSON.parse(key) as [Record<string, string>, string];
  expect(isSameEmscripten(JSON.stringify([packages, '/opt/another/bin/node', layout]))).toBe(true);
  expect(isSameEmscripten(JSON.stringify([{ ...packages, emscripten: 'another' }, layout]))).toBe(false);
  expect(isSameEmscripten(JSON.stringify([packages, '/opt/another/bin/node', 'layout 0']))).toBe(false);
});
