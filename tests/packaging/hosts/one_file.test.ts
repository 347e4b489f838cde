// Programs of one file, each in an empty folder: bundled by esbuild, a Node single executable, compiled by Bun, and peruse/inline in Deno.

import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram, type Stage, stage } from './stage.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const installed = (path: string) => here(`../node_modules/${path}`);
const kBun = installed('@oven/bun-linux-x64/bin/bun');
const kDeno = installed('@deno/linux-x64-glibc/deno');
const kEsbuild = installed('esbuild/bin/esbuild');

let app: Stage;
let place: string;
beforeAll(async () => {
  app = await stage('one_file');
  place = await mkdtemp(join(tmpdir(), 'peruse-one-file-'));
});
afterAll(() => rm(place, { recursive: true }));

/** Runs the tool in the calling thread, in a worker, and with one thread. */
async function expectAnswers(program: string, ...args: string[]): Promise<void> {
  const run = (options: object) =>
    runProgram(place, program, [...args, join(app.folder, 'public/models/classifier'), 't1 t2', JSON.stringify(options)], {
      HOME: place,
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
    });
  const good = { label: expect.stringMatching(/^LABEL_/) };
  expect(JSON.parse(await run({}))).toMatchObject({ ...good, worker: false, variant: expect.stringMatching(/^simd/) });
  expect(JSON.parse(await run({ worker: true }))).toMatchObject({ ...good, worker: true });
  expect(JSON.parse(await run({ threads: 1 }))).toMatchObject({ ...good, variant: 'simd', threads: 1 });
}

async function bundled(tool: string, format: string, name: string, platform = 'node'): Promise<string> {
  const out = join(place, name);
  const settings = ['--bundle', `--format=${format}`, `--platform=${platform}`, '--log-level=error', `--outfile=${out}`];
  await runProgram(app.folder, kEsbuild, [tool, ...settings]);
  return out;
}

test.each([
  ['peruse, a module', 'tool.js', 'esm', 'tool.mjs', 'node'],
  ['peruse, CommonJS', 'tool.js', 'cjs', 'tool.cjs', 'node'],
  ['peruse/inline, a module for any platform', 'inline_tool.js', 'esm', 'inline.mjs', 'neutral'],
  ['peruse/inline, CommonJS', 'inline_tool.js', 'cjs', 'inline.cjs', 'node'],
])('esbuild: %s', async (_, tool, format, name, platform) => {
  await expectAnswers(process.execPath, await bundled(tool, format, name, platform));
});

test('a single executable of Node', async () => {
  const script = await bundled('tool.js', 'cjs', 'sea.cjs');
  await writeFile(
    join(place, 'sea.json'),
    JSON.stringify({ main: script, output: join(place, 'sea.blob'), disableExperimentalSEAWarning: true }),
  );
  await runProgram(place, process.execPath, ['--experimental-sea-config', 'sea.json']);
  const program = join(place, 'sea');
  await copyFile(process.execPath, program);
  await chmod(program, 0o755);
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  await app.run('postject/dist/cli.js', program, 'NODE_SEA_BLOB', join(place, 'sea.blob'), '--sentinel-fuse', fuse);
  await expectAnswers(program);
});

// npm installs Bun and Deno only on some machines.
describe.skipIf(!existsSync(kBun))('Bun and Deno', () => {
  test('bun build --compile', async () => {
    const program = join(place, 'bun-tool');
    await runProgram(app.folder, kBun, ['build', '--compile', 'tool.js', '--outfile', program]);
    await expectAnswers(program);
  });

  test('Deno', async () => {
    await cp(join(app.folder, 'node_modules/peruse/web/bundle/peruse-inline.js'), join(place, 'peruse-inline.js'));
    const script = join(place, 'deno.js');
    await writeFile(
      script,
      `import { pipeline } from './peruse-inline.js';
      const [model, text, options] = Deno.args;
      const classify = await pipeline('text-classification', model, JSON.parse(options));
      const [{ label }] = await classify(text);
      console.log(JSON.stringify({ label, ...classify.info }));
      await classify.dispose();`,
    );
    await expectAnswers(kDeno, 'run', '-A', '--no-config', script);
  });
});
