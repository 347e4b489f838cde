#!/usr/bin/env node
// Puts the demo page together as a static site in build/site: the page, its compiled scripts (app/), the package (peruse/)
// and 8-bit copies of the demo models (models/). Any static host can serve that folder. The package must have been built.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildDemoPackage } from './demo_package.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { kVariants } from './variants.mjs';

export const siteFolder = join(root, 'build/site');

/** Models as they are stored, which do not need a quantiser: it runs in a build that the first visitor of `npm run demo` does not wait for. */
export const storedModels = join(root, 'models');

/** `made`: as putPackage's. `models`: their folder; 8-bit copies unless it is given. */
export async function buildSite(made = kVariants, models = undefined) {
  if (!existsSync(join(root, 'web/bundle/peruse.js'))) throw new Error('web/bundle/peruse.js is not there: build the package first');
  const folder = models ?? join(await buildDemoPackage(), 'models');
  rmSync(siteFolder, { recursive: true, force: true });
  mkdirSync(siteFolder, { recursive: true });
  for (const file of readdirSync(join(root, 'demo'))) {
    if (/\.(html|css|svg|js)$/.test(file)) cpSync(join(root, 'demo', file), join(siteFolder, file));
  }
  cpSync(folder, join(siteFolder, 'models'), { recursive: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const project of ['demo', 'demo/service_worker']) {
    execFileSync(process.execPath, [tsc, '-p', join(root, project)], { stdio: 'inherit' });
  }
  putPackage(made);
  return siteFolder;
}

/** Puts the package with the builds that are made into the site, which may be served meanwhile: each file is there whole or not at all. */
export function putPackage(made = kVariants) {
  const folder = join(siteFolder, 'peruse');
  mkdirSync(folder, { recursive: true });
  const put = (path, write) => {
    write(`${path}.partial`);
    renameSync(`${path}.partial`, path);
  };
  const builds = made.map((variant) => `peruse-${variant}.wasm`);
  for (const file of readdirSync(join(root, 'web/bundle'))) {
    if (/^peruse(-worker|-gpu|-redact|-teach|-teach-worker)?\.js$/.test(file) || builds.includes(file))
      put(join(folder, file), (path) => cpSync(join(root, 'web/bundle', file), path));
  }
  const list = `${JSON.stringify(siteFiles(), null, 1)}\n`;
  put(join(siteFolder, 'files.json'), (path) => writeFileSync(path, list));
}

/** Returns the total size of these files of the site. */
export function bytesOf(files) {
  return files.reduce((sum, file) => sum + statSync(join(siteFolder, file)).size, 0);
}

/** Lists the files that the service worker stores on the first visit (`page`), and those that it stores when they are used or when the visitor asks for it (`inUse`). */
function siteFiles() {
  const files = readdirSync(siteFolder, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file !== 'files.json')
    .sort();
  const isInUse = (file) => /^models\/|\.wasm$/.test(file);
  const hash = createHash('sha256');
  for (const file of files) if (statSync(join(siteFolder, file)).isFile()) hash.update(file).update(readFileSync(join(siteFolder, file)));
  const inUse = files.filter((file) => isInUse(file) && /\.(json|safetensors|wasm)$/.test(file));
  return {
    version: hash.digest('hex').slice(0, 16),
    page: ['./', ...files.filter((file) => /\.(css|svg|js)$/.test(file) && !isInUse(file))],
    inUse,
    bytesInUse: bytesOf(inUse),
  };
}

await runAsProgram(import.meta.url, async () => void (await buildSite()));
