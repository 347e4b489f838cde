import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { brotliKilobytes, compressTogether } from './brotli.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const { folder, files, tarballBytes, demoTarballBytes, seconds } = inject('installed');
const kPackage = join(folder, 'node_modules/peruse');

test('holds what runs, its types, its documentation and its licence, and nothing else', () => {
  const kKnown = [
    /^docs\/[\w/-]+\.(md|png)$/,
    /^web\/demo\/[\w/-]+\.(html|css|svg|js|json)$/,
    /^web\/dist\/[\w/]+\.(js|d\.ts)$/,
    /^web\/dist\/(node\/\w+\.mjs|cjs\/\w+\.(cjs|d\.cts))$/,
    /^web\/wasm\/glue(-[\w-]+)?\.mjs$/,
    /^web\/bundle\/peruse(-[\w-]+)?\.(js|js\.map|wasm|d\.ts)$/,
  ];
  const names = files.map(({ path }) => path);
  expect(names.filter((path) => !kKnown.some((known) => known.test(path))).sort()).toEqual([
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'HACKING.md',
    'LICENSE',
    'NOTICE',
    'README.md',
    'SECURITY.md',
    'package.json',
  ]);
  const scripts = names.filter((path) => /^web\/dist\/.*\.js$/.test(path));
  for (const path of scripts) expect(existsSync(join(kPackage, path.replace(/js$/, 'd.ts'))), path).toBe(true);
});

test('no file names a folder of the machine that built it, so that every machine builds the same bytes', () => {
  const folders = [kRoot, join(homedir(), '.cache')];
  const named = files.filter(({ path }) => folders.some((name) => readFileSync(join(kPackage, path)).includes(name)));
  expect(named.map(({ path }) => path)).toEqual([]);
});

test('every bundle has a source map that holds its sources', () => {
  // Excluded: peruse-inline.js, whose map would contain the engine again, and two that have the sources of peruse-worker.js and peruse-redact.js.
  const bundles = files.map(({ path }) => path).filter((path) => /^web\/bundle\/(?!peruse-(?:inline|host|redact-kit)).*\.js$/.test(path));
  expect(bundles.length).toBeGreaterThan(3);
  for (const path of bundles) {
    expect(readFileSync(join(kPackage, path), 'utf8'), path).toContain(`//# sourceMappingURL=${path.split('/').at(-1)}.map`);
    const map = JSON.parse(readFileSync(join(kPackage, `${path}.map`), 'utf8')) as { sources: string[]; sourcesContent: string[] };
    expect(map.sources.length, path).toBeGreaterThan(0);
    expect(map.sourcesContent.length, path).toBe(map.sources.length);
    expect(
      map.sources.filter((source) => source.startsWith('/')),
      path,
    ).toEqual([]);
  }
});

test('every bundle is strict code, also for esbuild in an app whose tsconfig.json has "strict" (tools/bundle.mjs)', () => {
  const bundles = files.map(({ path }) => path).filter((path) => /^web\/bundle\/.*\.js$/.test(path));
  const sloppy = bundles.filter((path) => !readFileSync(join(kPackage, path), 'utf8').startsWith("'use strict';"));
  expect(sloppy).toEqual([]);
});

test('every address that package.json gives is there', () => {
  const { main, module, browser, types, unpkg, jsdelivr, exports } = JSON.parse(readFileSync(join(kPackage, 'package.json'), 'utf8'));
  const targets = [main, module, browser, types, unpkg, jsdelivr, ...targetsOf(exports)];
  for (const target of targets as string[]) {
    if (!target.includes('*')) expect(existsSync(join(kPackage, target)), target).toBe(true);
  }
});

test('the types need no DOM library', () => {
  copyFileSync(join(kRoot, 'tests/packaging/hosts/typescript/program.ts'), join(folder, 'program.ts'));
  const flags = '--noEmit --strict --skipLibCheck false --target es2022 --lib es2022 --module node16 --types node --typeRoots'.split(' ');
  const words = [join(kRoot, 'node_modules/typescript/bin/tsc'), ...flags, join(kRoot, 'node_modules/@types'), 'program.ts'];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
});

function targetsOf(tree: unknown): string[] {
  return typeof tree === 'string' ? [tree] : Object.values(tree as object).flatMap(targetsOf);
}

test('is one package: nothing comes with it', () => {
  expect(readdirSync(join(folder, 'node_modules')).sort()).toEqual(['.bin', '.package-lock.json', 'peruse']);
  const { dependencies, peerDependencies, peerDependenciesMeta, optionalDependencies } = JSON.parse(
    readFileSync(join(kPackage, 'package.json'), 'utf8'),
  );
  expect({ dependencies, optionalDependencies }).toEqual({});
  const optional = Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }]));
  expect(peerDependenciesMeta).toEqual(optional); // npm installs none of them
  console.log(`installed in ${seconds.toFixed(1)} s; ${(tarballBytes / 1e6).toFixed(2)} MB`);
});

test('the demo models are a package of less than 10 MB', () => {
  console.log(`peruse-demo: ${(demoTarballBytes / 1e6).toFixed(2)} MB`);
  expect(demoTarballBytes).toBeLessThan(10 * 1024 * 1024);
});

test('is less than 8.15 MB to download, and less than 22.1 MB on disk, eight builds, source maps, peruse/inline and documentation included', () => {
  const onDisk = files.reduce((sum, { size }) => sum + size, 0);
  const ofEngines = files.filter(({ path }) => path.endsWith('.wasm')).reduce((sum, { size }) => sum + size, 0);
  console.log(`${(onDisk / 1e6).toFixed(2)} MB on disk, ${(ofEngines / 1e6).toFixed(2)} MB of them the builds of the engine`);
  expect(tarballBytes).toBeLessThan(8.15e6);
  expect(onDisk).toBeLessThan(22.1e6);
});

const kBundle = join(kPackage, 'web/bundle');
const kPageScripts = ['peruse.js', 'peruse-worker.js'].map((name) => join(kBundle, name));

test('a page loads nothing that is for Node', () => {
  // peruse-inline.js is excluded, because it also runs in Node and imports its modules at run time.
  const bundles = readdirSync(kBundle).filter((name) => name.endsWith('.js') && name !== 'peruse-inline.js');
  for (const name of bundles) expect(readFileSync(join(kBundle, name), 'utf8'), name).not.toMatch(/['"`]node:/);
});

const kCpuBuilds = ['relaxed-threads', 'relaxed', 'simd-threads', 'simd'];
const scriptKilobytes = () => kPageScripts.reduce((sum, path) => sum + brotliKilobytes(path), 0);
const buildOf = (build: string) => join(kBundle, `peruse-${build}.wasm`);
const buildKilobytes = (build: string) => brotliKilobytes(buildOf(build));
const kBuilds = [...kCpuBuilds, 'tokenizer', 'webgpu', 'teach-threads', 'teach'];

beforeAll(() => compressTogether(kBuilds.map(buildOf)));

test('a page loads less than 409 KiB, of which an engine for the CPU is less than 340 KiB (brotli)', () => {
  const script = scriptKilobytes();
  for (const build of kCpuBuilds) {
    const wasm = buildKilobytes(build);
    console.log(`${build}: engine ${wasm.toFixed(1)}, all scripts ${script.toFixed(1)}, together ${(wasm + script).toFixed(1)} KB`);
    expect(wasm, build).toBeLessThan(340);
    expect(wasm + script, build).toBeLessThan(409);
  }
});

test('README and docs/limits.md say how much a page loads, to one per cent', () => {
  const readme = readFileSync(join(kPackage, 'README.md'), 'utf8');
  const limits = readFileSync(join(kPackage, 'docs/limits.md'), 'utf8');
  const figure = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);
  const largest = Math.max(...kCpuBuilds.map(buildKilobytes)) + scriptKilobytes();
  const stated = [
    ['README.md', figure(readme, /\*\*(\d+) KiB\*\* to download/), largest],
    ['scripts', figure(limits, /loads one build, and (\d+)\s+KiB of scripts/), scriptKilobytes()],
    ...kBuilds.map(
      (build) => [build, figure(limits, new RegExp(`^\\| \`${build}\` \\|.*\\| (\\d+) KiB \\|$`, 'm')), buildKilobytes(build)] as const,
    ),
  ] as const;
  const wrong = stated.filter(([, says, is]) => !(Math.abs(says - is) <= is / 100));
  expect(wrong).toEqual([]);
});

test("the GPU's engine is less than 335 KiB, and its scripts less than 15 KiB (brotli)", () => {
  const gpu = buildKilobytes('webgpu');
  const script = brotliKilobytes(join(kBundle, 'peruse-gpu.js'));
  console.log(`the GPU's part: engine ${gpu.toFixed(1)} KB, ${script.toFixed(1)} KB of scripts`);
  expect(gpu).toBeLessThan(335);
  expect(script).toBeLessThan(15);
});

test('what a page loads to teach is an engine of less than 317 KiB, and less than 42.5 KiB of scripts (brotli)', () => {
  const script = ['peruse-teach.js', 'peruse-teach-worker.js'].reduce((sum, name) => sum + brotliKilobytes(join(kBundle, name)), 0);
  for (const build of ['teach', 'teach-threads']) {
    const wasm = buildKilobytes(build);
    console.log(`${build}: engine ${wasm.toFixed(1)} KB, ${script.toFixed(1)} KB of scripts`);
    expect(wasm, build).toBeLessThan(317);
  }
  expect(script).toBeLessThan(42.5);
});

test('peruse/inline is one script of less than 1.75 MB, and less than 1,130 KiB by gzip', () => {
  const script = readFileSync(join(kBundle, 'peruse-inline.js'));
  expect(script.length).toBeLessThan(1.75e6);
  expect(gzipSync(script, { level: 9 }).length).toBeLessThan(1130 * 1024);
  expect(String(script)).not.toMatch(/import\.meta|\bimport\s*[({'"]|\brequire\(/);
});

test('peruse/inline in Node loads again in the worker of the last load', () => {
  const input = `
    import { pipeline } from 'peruse/inline';
    let workers = 0;
    process.on('worker', () => ++workers);
    for (let i = 0; i < 3; ++i) {
      const classify = await pipeline('text-classification', 'models/peruse-sentiment-convbert-tiny', { worker: true });
      await classify('Lovely.');
      await classify.dispose();
    }
    console.log(workers);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module'], { cwd: folder, input, encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: '1\n', stderr: '' });
});

test('a page that does not teach loads nothing of it', () => {
  for (const path of kPageScripts) expect(readFileSync(path, 'utf8'), path).not.toMatch(/peruse-teach/);
});

const kNodes = [
  ['this', process.execPath],
  ...['node22', 'node24']
    .map((name) => [name, join(kRoot, `tests/packaging/node_modules/${name}/bin/node`)] as const)
    .filter(([, path]) => existsSync(path)),
] as [string, string][];

describe.each(kNodes)('under %s Node', (_, node) => {
  test("the README's snippet prints what the README says", () => {
    const readme = readFileSync(join(kPackage, 'README.md'), 'utf8');
    const [, code, output] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(readme)!;
    const input = code!.replace('node_modules/peruse-demo/', '');
    const run = spawnSync(node, ['--input-type=module'], { cwd: folder, input, encoding: 'utf8' });
    const out = run.stdout.replaceAll(/\d\.\d{3,}/g, (number) => Number(number).toFixed(2));
    expect({ out, err: run.stderr }).toEqual({ out: output, err: '' });
  });

  test('the command runs, and so does a worker', () => {
    const model = 'models/peruse-sentiment-convbert-tiny';
    const run = (...args: string[]) => spawnSync(node, args, { cwd: folder, encoding: 'utf8' });
    expect(run(join(folder, 'node_modules/.bin/peruse'), 'classify', model, 'A gem.')).toMatchObject({
      status: 0,
      stderr: '',
      stdout: expect.stringContaining('"label":"POSITIVE"'),
    });
    const script = `import { pipeline } from 'peruse';
      const classify = await pipeline('text-classification', '${model}', { worker: true });
      console.log((await classify('A gem.'))[0].label, classify.info.worker);`;
    expect(run('--input-type=module', '-e', script)).toMatchObject({ status: 0, stderr: '', stdout: 'POSITIVE true\n' });
  });
});

test.each(kNodes)('teaching works under %s Node', (_, node) => {
  const script = `import { teach } from 'peruse/teach';
    const examples = ['rose', 'tulip', 'fern', 'oak'].map((text) => ({ text, label: 'plant' }))
      .concat(['saw', 'drill', 'hammer', 'wrench'].map((text) => ({ text, label: 'tool' })));
    const taught = await teach('text-classification', 'models/peruse-sentiment-convbert-tiny', examples);
    const classify = await taught.pipeline();
    console.log(taught.report.method, (await classify('rose'))[0].label, [...taught.files.keys()].includes('model.safetensors'));`;
  const run = spawnSync(node, ['--input-type=module', '-e', script], { cwd: folder, encoding: 'utf8' });
  expect({ status: run.status, err: run.stderr, out: run.stdout }).toEqual({ status: 0, err: '', out: 'full plant true\n' });
});

test('npx finds the command', () => {
  expect(execFileSync('npx', ['--no-install', 'peruse', '--version'], { cwd: folder, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe.each(kNodes)('require() under %s Node', (_, node) => {
  test('gives what import gives', () => {
    const script = `const { pipeline } = require('peruse');
      pipeline('text-classification', 'models/peruse-sentiment-convbert-tiny').then(async (classify) => {
        console.log((await classify('A gem.'))[0].label);
      });`;
    const run = spawnSync(node, ['--input-type=commonjs', '-e', script], { cwd: folder, encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: 'POSITIVE\n' });
  });
});
