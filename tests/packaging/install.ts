// Packs the packages, and installs peruse from its tarball into a new folder without a network.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { demoPackage } from '../node/support/demo_package.js';

export interface Installed {
  tarball: string;
  tarballBytes: number;
  files: { path: string; size: number }[];
  folder: string;
  demoTarball: string;
  demoTarballBytes: number;
  seconds: number;
}

declare module 'vitest' {
  interface ProvidedContext {
    installed: Installed;
  }
}

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

/** Vitest's global set-up. Requires the built package. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const place = await mkdtemp(join(tmpdir(), 'peruse-package-'));
  const { tarball, files } = await packed(place);
  const demo = await run('npm', ['pack', '--json', '--pack-destination', place], { cwd: await demoPackage() });
  const demoTarball = join(place, (JSON.parse(demo.stdout) as [{ filename: string }])[0].filename);
  const folder = join(place, 'app');
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  const start = performance.now();
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--cache', join(place, 'empty-cache'), tarball], { cwd: folder });
  const seconds = (performance.now() - start) / 1000;
  await symlink(join(kRoot, 'models'), join(folder, 'models'));
  project.provide('installed', {
    tarball,
    tarballBytes: (await stat(tarball)).size,
    files,
    folder,
    seconds,
    demoTarball,
    demoTarballBytes: (await stat(demoTarball)).size,
  });
  return () => rm(place, { recursive: true });
}

/** Packs the package, or uses the tarball in PERUSE_TARBALL, for example of a release. */
async function packed(place: string): Promise<{ tarball: string; files: Installed['files'] }> {
  const given = process.env.PERUSE_TARBALL;
  if (given !== undefined) return { tarball: given, files: [] };
  await run(process.execPath, ['tools/packaged_demo.mjs'], { cwd: kRoot });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', place], { cwd: kRoot });
  const [{ filename, files }] = JSON.parse(stdout) as [{ filename: string; files: Installed['files'] }];
  return { tarball: join(place, filename), files };
}
