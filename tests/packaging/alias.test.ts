// The porting page's two ways to install peruse-transformers under the name @huggingface/transformers: as a dependency, and as an override for a
// library in node_modules.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kModel = JSON.stringify(join(kRoot, 'models/peruse-sentiment-convbert-tiny'));
const run = promisify(execFile);

let place: string;
let manifests: { dependencies?: Record<string, string>; overrides?: Record<string, string> }[];
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'peruse-alias-'));
  const { buildAliasPackage } = (await import(new URL('../../tools/alias_package.mjs', import.meta.url).href)) as {
    buildAliasPackage(folder: string): string;
  };
  await run('npm', ['pack', '--pack-destination', place], { cwd: buildAliasPackage(join(place, 'alias')) });
  const page = await readFile(join(kRoot, 'docs/coming-from-transformers-js.md'), 'utf8');
  const own = page
    .replaceAll('file:../peruse/build/tarballs/peruse-transformers', `file:${place}/peruse-transformers`)
    .replaceAll(/file:\.\.\/peruse\/build\/tarballs\/peruse-\d[^"]*/g, `file:${inject('installed').tarball}`);
  manifests = [...own.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json!) as object);
});
afterAll(() => rm(place, { recursive: true }));

const kProgram = `import { pipeline } from '@huggingface/transformers';
export async function labelOf(text) {
  const classify = await pipeline('sentiment-analysis', ${kModel});
  const [{ label }] = await classify(text);
  await classify.dispose();
  return label;
}
`;

async function installed(name: string, manifest: object, files: Record<string, string>): Promise<string> {
  const app = join(place, name);
  for (const [path, content] of Object.entries({
    'package.json': JSON.stringify({ private: true, type: 'module', ...manifest }),
    ...files,
  })) {
    await mkdir(join(app, path, '..'), { recursive: true });
    await writeFile(join(app, path), content);
  }
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--cache', join(place, 'empty-cache')], { cwd: app });
  return app;
}

async function printed(app: string, from: string): Promise<string> {
  const code = `import { labelOf } from '${from}'; console.log(await labelOf('A gem of a film.'));`;
  await writeFile(join(app, 'main.mjs'), code);
  const { stdout, stderr } = await run(process.execPath, ['main.mjs'], { cwd: app });
  return stdout + stderr;
}

test('a program with the dependencies of the quickest trial runs unchanged', async () => {
  const app = await installed('trial', manifests[0]!, { 'program.mjs': kProgram });
  expect(await printed(app, './program.mjs')).toBe('POSITIVE\n');
});

test('an override reaches a library in node_modules', async () => {
  const library = {
    name: 'library',
    version: '1.0.0',
    type: 'module',
    main: 'index.js',
    dependencies: { '@huggingface/transformers': '^4.0.0' },
  };
  const { peruse } = manifests[0]!.dependencies!;
  const app = await installed(
    'override',
    { dependencies: { peruse, library: 'file:library' }, ...manifests[1] },
    { 'library/package.json': JSON.stringify(library), 'library/index.js': kProgram },
  );
  expect(await printed(app, 'library')).toBe('POSITIVE\n');
});
