#!/usr/bin/env node
// Builds everything and packs the npm packages peruse, peruse-demo and peruse-transformers into build/tarballs: npm run tarball.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildAliasPackage } from './alias_package.mjs';
import { buildLibrary } from './build.mjs';
import { buildDemoPackage } from './demo_package.mjs';
import { buildPackagedDemo } from './packaged_demo.mjs';
import { capture } from './setup/exec.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { step } from './setup/step.mjs';
import { setup } from './setup.mjs';

export const tarballFolder = join(root, 'build/tarballs');

export async function packPackages(folder = tarballFolder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const from of [root, await buildDemoPackage(), buildAliasPackage()])
    capture('npm', ['pack', '--pack-destination', folder], { cwd: from });
  return readdirSync(folder).map((name) => join(folder, name));
}

await runAsProgram(import.meta.url, async () => {
  await setup();
  await buildLibrary();
  await step('demo page', buildPackagedDemo);
  let paths;
  await step('packages', async () => {
    paths = await packPackages();
  });
  console.log(`\nInstall them in a project with\n  npm install ${paths.join(' ')}`);
});
