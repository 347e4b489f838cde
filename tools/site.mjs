#!/usr/bin/env node
// Puts the demo page together as a static site in build/site: the page, its compiled scripts (app/), the package (peruse/)
// and the demo models (models/). Any static host can serve that folder. The package must have been built.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

export const siteFolder = join(root, 'build/site');

export function buildSite() {
  for (const needed of ['web/dist/index.js', 'web/wasm', 'models']) {
    if (!existsSync(join(root, needed))) throw new Error(`${needed} is not there: build the package first`);
  }
  rmSync(siteFolder, { recursive: true, force: true });
  mkdirSync(siteFolder, { recursive: true });
  for (const file of readdirSync(join(root, 'demo'))) {
    if (/\.(html|css|svg|js)$/.test(file)) cpSync(join(root, 'demo', file), join(siteFolder, file));
  }
  cpSync(join(root, 'web/dist'), join(siteFolder, 'peruse/dist'), { recursive: true });
  cpSync(join(root, 'web/wasm'), join(siteFolder, 'peruse/wasm'), { recursive: true });
  cpSync(join(root, 'models'), join(siteFolder, 'models'), { recursive: true });
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const project of ['demo', 'demo/service_worker']) {
    execFileSync(process.execPath, [tsc, '-p', join(root, project)], { stdio: 'inherit' });
  }
  writeFileSync(join(siteFolder, 'files.json'), `${JSON.stringify(pageFiles(), null, 1)}\n`);
  return siteFolder;
}

/** What the service worker stores at the first visit: all but engines and models, which it stores when they are used. */
function pageFiles() {
  return ['./', ...readdirSync(siteFolder, { recursive: true })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => /\.(css|svg|js)$/.test(file) && !/^(models|peruse\/wasm)\//.test(file) && !/_node\.js$/.test(file))
    .sort()];
}

await runAsProgram(import.meta.url, () => void buildSite());
