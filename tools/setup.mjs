#!/usr/bin/env node
// Installs everything that building and testing need, unless it exists, and writes the paths to env.json in the cache folder (PERUSE_CACHE, by
// default ~/.cache/peruse).
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { cacheDir, environmentFile } from './setup/cache.mjs';
import { findChromium } from './setup/chromium.mjs';
import { aptSystem, hasDebianMirror } from './setup/debian.mjs';
import { findEmscripten } from './setup/emscripten.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { unpackMesa } from './setup/mesa.mjs';
import { missingPrograms } from './setup/needed.mjs';
import { installNodeModules } from './setup/node_modules.mjs';
import { installPackages } from './setup/packages.mjs';
import { step } from './setup/step.mjs';
import { fetchSources } from './setup/third_party.mjs';

export async function setup() {
  mkdirSync(cacheDir, { recursive: true });
  const system = aptSystem();
  const environment = {};
  await step('system packages', () => {
    if (system) return installPackages(system);
    const missing = missingPrograms();
    if (missing) throw new Error(missing);
    return 'all present';
  });
  await step('third-party sources', () => {
    const { folders, fetched } = fetchSources(hasDebianMirror(system));
    environment.sources = folders;
    return fetched.length ? `fetched ${fetched.join(' ')}` : 'all present';
  });
  await step('emscripten', () => {
    const { root, note } = findEmscripten(system);
    environment.emscripten = root;
    return note;
  });
  await step('chromium', () => {
    environment.chromium = findChromium();
    return environment.chromium.path ?? 'not found: browser tests will fail (install Chromium or Chrome, or set CHROME_PATH)';
  });
  await step('mesa', () => unpackMesa(system));
  await step('node packages', installNodeModules);
  mkdirSync(dirname(environmentFile), { recursive: true });
  const partial = `${environmentFile}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(environment, null, 2)}\n`);
  renameSync(partial, environmentFile);
  return environment;
}

await runAsProgram(import.meta.url, setup);
