// What is in the package, how big it is, and that it runs under every Node that it is for.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const { folder, files, tarballBytes, seconds } = inject('installed');
const kPackage = join(folder, 'node_modules/peruse');

test('holds what runs, its types and its licence, and nothing else', () => {
  const strange = files.map(({ path }) => path).filter((path) => !/^(web\/demo\/[\w/]+\.(html|css|svg|js|json)|web\/dist\/[\w/]+\.(js|d\.ts)|web\/wasm\/peruse-[\w-]+\.(mjs|wasm))$/.test(path));
  expect(strange.sort()).toEqual(['LICENSE', 'NOTICE', 'README.md', 'package.json']);
  const scripts = files.filter(({ path }) => /^web\/dist\/.*\.js$/.test(path)).map(({ path }) => path);
  for (const path of scripts) expect(existsSync(join(kPackage, path.replace(/js$/, 'd.ts'))), path).toBe(true);
});

test('is one package: nothing comes with it', () => {
  expect(readdirSync(join(folder, 'node_modules')).sort()).toEqual(['.bin', '.package-lock.json', 'peruse']);
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(readFileSync(join(kPackage, 'package.json'), 'utf8'));
  expect({ dependencies, peerDependencies, optionalDependencies }).toEqual({});
  console.log(`installed in ${seconds.toFixed(1)} s; ${(tarballBytes / 1e6).toFixed(2)} MB`);
});

test('is less than 3 MB to download, and less than 5 MB on disk', () => {
  const onDisk = files.reduce((sum, { size }) => sum + size, 0);
  const ofEngines = files.filter(({ path }) => path.startsWith('web/wasm/')).reduce((sum, { size }) => sum + size, 0);
  console.log(`${(onDisk / 1e6).toFixed(2)} MB on disk, ${(ofEngines / 1e6).toFixed(2)} MB of them the five builds of the engine`);
  expect(tarballBytes).toBeLessThan(3e6);
  expect(onDisk).toBeLessThan(5e6);
});

// ---- What a page loads ------------------------------------------------------------------------------------------------

/** The package's files that a file imports, however deep. */
function reach(entry: string, seen = new Set<string>()): Set<string> {
  if (seen.has(entry)) return seen;
  seen.add(entry);
  const code = readFileSync(entry, 'utf8');
  for (const [, name] of code.matchAll(/(?:from |import\(|import )'(\.[^']+)'/g)) {
    if (!name!.endsWith('.mjs')) reach(resolve(dirname(entry), name!), seen);
  }
  return seen;
}

function brotli(path: string): number {
  return brotliCompressSync(readFileSync(path), { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } }).length;
}

const kPageFiles = reach(join(kPackage, 'web/dist/worker/worker.js'), reach(join(kPackage, 'web/dist/index.js')));

test('a page loads nothing that is for Node or for the command line', () => {
  const names = [...kPageFiles].map((path) => relative(kPackage, path));
  expect(names.filter((name) => /node|\/cli\//.test(name))).toEqual([]);
  for (const path of kPageFiles) expect(readFileSync(path, 'utf8'), path).not.toMatch(/['"]node:/);
});

test('a page loads less than 350 KB, of which an engine for the CPU is less than 250 KB (brotli)', () => {
  const script = [...kPageFiles].reduce((sum, path) => sum + brotli(path), 0);
  const builds = [['simd', 250], ['relaxed', 250], ['simd-threads', 250], ['relaxed-threads', 250], ['webgpu', 310]] as const;
  for (const [variant, most] of builds) {
    const wasm = brotli(join(kPackage, `web/wasm/peruse-${variant}.wasm`));
    const glue = brotli(join(kPackage, `web/wasm/peruse-${variant}.mjs`));
    console.log(`${variant}: engine ${kilobytes(wasm)}, its glue ${kilobytes(glue)}, all scripts ${kilobytes(script)}, together ${kilobytes(wasm + glue + script)} KB`);
    expect(wasm, variant).toBeLessThan(most * 1024);
    expect(wasm + glue + script, variant).toBeLessThan(350 * 1024);
  }
});

test('the GPU\'s part adds less than 60 KB (brotli)', () => {
  const both = (variant: string) => brotli(join(kPackage, `web/wasm/peruse-${variant}.wasm`)) + brotli(join(kPackage, `web/wasm/peruse-${variant}.mjs`));
  const scripts = [...kPageFiles].filter((path) => path.includes('/gpu/'));
  expect(scripts.length).toBeGreaterThan(3);
  const script = scripts.reduce((sum, path) => sum + brotli(path), 0);
  const added = both('webgpu') - both('simd') + script;
  console.log(`the GPU's part adds ${kilobytes(added)} KB, ${kilobytes(script)} of them scripts`);
  expect(added).toBeLessThan(60 * 1024);
});

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}

// ---- Node -------------------------------------------------------------------------------------------------------------

/** Those that tests/packaging/package.json names, where they are installed, and the one that runs this. */
const kNodes = [['this', process.execPath], ...['node22', 'node24']
  .map((name) => [name, join(kRoot, `tests/packaging/node_modules/${name}/bin/node`)] as const)
  .filter(([, path]) => existsSync(path))] as [string, string][];

describe.each(kNodes)('under %s Node', (_, node) => {
  test('the README\'s snippet prints what the README says', () => {
    const readme = readFileSync(join(kPackage, 'README.md'), 'utf8');
    const [, code, output] = /```js\n([^]*?)```\n\n```\n([^]*?)```/.exec(readme)!;
    const run = spawnSync(node, ['--input-type=module'], { cwd: folder, input: code, encoding: 'utf8' });
    expect({ out: run.stdout, err: run.stderr }).toEqual({ out: output, err: '' });
  });

  test('the command runs, and so does a worker', () => {
    const model = 'models/peruse-sentiment-convbert-tiny';
    const run = (...args: string[]) => spawnSync(node, args, { cwd: folder, encoding: 'utf8' });
    expect(run(join(folder, 'node_modules/.bin/peruse'), 'classify', model, 'A gem.')).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('"label":"POSITIVE"') });
    const script = `import { pipeline } from 'peruse';
      const classify = await pipeline('text-classification', '${model}', { worker: true });
      console.log((await classify('A gem.'))[0].label, classify.info.worker);`;
    expect(run('--input-type=module', '-e', script)).toMatchObject({ status: 0, stderr: '', stdout: 'POSITIVE true\n' });
  });
});

test('npx finds the command', () => {
  expect(execFileSync('npx', ['--no-install', 'peruse', '--version'], { cwd: folder, encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+\n$/);
});
