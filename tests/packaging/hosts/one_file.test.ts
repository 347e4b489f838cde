// Programs of one file, each in an empty folder: bundled by esbuild, a Node single executable, made by pkg, compiled by Bun, and peruse/inline in
// Deno; some with their model or engine in the file. And an archive as AWS Lambda runs it.

import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kHasLinuxPackages, kNode, runProgram, type Stage, stage } from './stage.js';

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

/** Runs the tool in a worker, in one that it asks for, and with one thread. */
async function expectAnswers(program: string, ...args: string[]): Promise<void> {
  const run = (options: object) =>
    runProgram(place, program, [...args, join(app.folder, 'public/models/classifier'), 't1 t2', JSON.stringify(options)], {
      HOME: place,
      NO_COLOR: '1',
      DENO_NO_UPDATE_CHECK: '1',
    });
  const good = { label: expect.stringMatching(/^LABEL_/) };
  expect(JSON.parse(await run({}))).toMatchObject({ ...good, worker: true, variant: expect.stringMatching(/^simd/) });
  expect(JSON.parse(await run({ worker: true }))).toMatchObject({ ...good, worker: true });
  expect(JSON.parse(await run({ threads: 1 }))).toMatchObject({ ...good, variant: 'simd', threads: 1 });
}

/** Runs a tool that contains its model. */
async function expectOwnModel(program: string, ...args: string[]): Promise<void> {
  const run = async (options: object) =>
    JSON.parse(await runProgram(place, program, [...args, 't1 t2', JSON.stringify(options)], { HOME: place })) as object;
  const good = { label: expect.stringMatching(/^LABEL_/), variant: expect.stringMatching(/^simd/) };
  expect(await run({})).toMatchObject({ ...good, worker: true });
  expect(await run({ worker: true, threads: 2 })).toMatchObject({ ...good, worker: true, threads: availableParallelism() > 1 ? 2 : 1 });
}

const kModelFiles = ['config.json', 'tokenizer.json', 'model.safetensors'];
/** Without a target, esbuild writes Uint8Array.fromBase64, which Node 20 lacks. */
const kBinary = ['--target=node20', ...['json', 'safetensors', 'wasm'].map((ending) => `--loader:.${ending}=binary`)];

async function bundled(tool: string, format: string, name: string, platform = 'node', more: string[] = []): Promise<string> {
  const out = join(place, name);
  const settings = ['--bundle', `--format=${format}`, `--platform=${platform}`, '--log-level=error', `--outfile=${out}`, ...more];
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

test.each(['esm', 'cjs'])('esbuild with the model in the file, %s', async (format) => {
  const folder = join(app.folder, 'public/models/classifier');
  const out = await bundled('embedded_tool.js', format, `embedded.${format === 'esm' ? 'mjs' : 'cjs'}`, 'node', [
    ...kBinary,
    `--alias:model=${folder}`,
  ]);
  await expectOwnModel(process.execPath, out);
});

test('esbuild with a build of the engine in the file', async () => {
  const engine = join(app.folder, 'node_modules/peruse/web/bundle');
  const out = await bundled('module_tool.js', 'cjs', 'module.cjs', 'node', [...kBinary, `--alias:engine=${engine}`]);
  const model = join(app.folder, 'public/models/classifier');
  const found = JSON.parse(await runProgram(place, process.execPath, [out, model, 't1 t2'])) as object;
  expect(found).toEqual({ label: expect.stringMatching(/^LABEL_/), variant: 'simd' });
});

/** A Node single executable. */
async function singleExecutable(node: string, tool: string, assets: Record<string, string> = {}): Promise<string> {
  const name = tool.replace('.js', '');
  const main = await bundled(tool, 'cjs', `${name}.cjs`);
  const blob = join(place, `${name}.blob`);
  await writeFile(join(place, `${name}.json`), JSON.stringify({ main, output: blob, assets, disableExperimentalSEAWarning: true }));
  await runProgram(place, node, ['--experimental-sea-config', `${name}.json`]);
  const program = join(place, name);
  await copyFile(node, program);
  await chmod(program, 0o755);
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  await app.run('postject/dist/cli.js', program, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse);
  return program;
}

test('a single executable of Node', async () => {
  await expectAnswers(await singleExecutable(process.execPath, 'tool.js'));
});

test('a single executable of Node with the model as assets', async () => {
  const folder = join(app.folder, 'public/models/classifier');
  const assets = Object.fromEntries(kModelFiles.map((name) => [name, join(folder, name)]));
  await expectOwnModel(await singleExecutable(kNode, 'assets_tool.js', assets));
});

test('an archive as AWS Lambda runs it: read-only, without a home', async () => {
  const made = join(place, 'archive');
  await cp(await bundled('lambda.js', 'cjs', 'index.js'), join(made, 'index.js'));
  await cp(join(app.folder, 'public/models/classifier'), join(made, 'model'), { recursive: true });
  const python = (...args: string[]) => runProgram(made, 'python3', ['-m', 'zipfile', ...args]);
  await python('-c', '../function.zip', 'index.js', 'model');
  const task = join(place, 'var/task');
  await python('-e', '../function.zip', task);
  await runProgram(place, 'chmod', ['-R', 'a-w', task]);
  const call = `const { handler } = require('./index.js');
    handler({ text: 't1' }).then(() => handler({ text: 't1 t2' })).then(({ statusCode, body }) => console.log(statusCode, body));`;
  const home = join(place, 'no-home');
  const output = await runProgram(task, process.execPath, ['-e', call], { HOME: home, LAMBDA_TASK_ROOT: task });
  await runProgram(place, 'chmod', ['-R', 'u+w', task]);
  expect(output).toMatch(/^200 \[\{"label":"LABEL_\d","score":[\d.]+\}\]\n$/);
  // For root, nothing is read-only.
  expect((await readdir(task)).sort()).toEqual(['index.js', 'model']);
  expect(existsSync(home)).toBe(false);
});

/** Runs pkg with the Node of npm in place of the one that pkg would download. */
async function packaged(name: string, ...args: string[]): Promise<string> {
  const version = (await runProgram(place, kNode, ['--version'])).trim();
  const release = join(place, `.pkg-cache/sea/node-${version}-linux-x64`);
  await mkdir(join(release, 'bin'), { recursive: true });
  await copyFile(kNode, join(release, 'bin/node'));
  for (const file of ['.tar.gz', '.tar.gz.ok', '/bin/node.ok']) await writeFile(release + file, '');
  const output = join(place, name);
  const target = ['--targets', `node${version.slice(1)}-linux-x64`, '--output', output];
  await app.with({ HOME: place }).run(app.bin('@yao-pkg/pkg', 'pkg'), ...args, '--sea', ...target);
  return output;
}

describe.skipIf(!kHasLinuxPackages)('pkg, Bun and Deno', () => {
  test('pkg --sea with a bundle', async () => {
    await expectAnswers(await packaged('pkg-bundle', await bundled('tool.js', 'cjs', 'pkg.cjs')));
  });

  test('bun build --compile', async () => {
    const program = join(place, 'bun-tool');
    await runProgram(app.folder, kBun, ['build', '--compile', 'tool.js', '--outfile', program]);
    await expectAnswers(program);
  });

  async function denoScript(): Promise<string> {
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
    return script;
  }

  test('Deno', async () => {
    await expectAnswers(kDeno, 'run', '-A', '--no-config', await denoScript());
  });

  // Neither npm nor PyPI distribute denort, the program that Deno compiles scripts into.
  test.skipIf(process.env.DENORT_BIN === undefined)('deno compile', async () => {
    const program = join(place, 'deno-tool');
    await runProgram(place, kDeno, ['compile', '-A', '--no-config', '--output', program, await denoScript()]);
    await expectAnswers(program);
  });
});
