#!/usr/bin/env node
// Builds the browser extension (demo/extension) into a folder that Chromium loads unpacked: node tools/extension.mjs [folder]
// Default: build/extension. The package must have been built.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildDemoPackage } from './demo_package.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';

const kOwn = ['manifest.json', 'background.js', 'content.js'];
/** The package without workers, and the builds without threads, which a service worker can use. */
const kPackage = ['peruse-service-worker.js', 'peruse-relaxed.wasm', 'peruse-simd.wasm'];
const kModel = 'peruse-tagger-convbert-tiny';

export async function buildExtension(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'peruse'), { recursive: true });
  for (const name of kOwn) cpSync(join(root, 'demo/extension', name), join(folder, name));
  for (const name of kPackage) cpSync(join(root, 'web/bundle', name), join(folder, 'peruse', name));
  cpSync(join(await buildDemoPackage(), 'models', kModel), join(folder, 'model'), { recursive: true });
}

await runAsProgram(import.meta.url, async () => {
  const folder = resolve(process.argv[2] ?? join(root, 'build/extension'));
  await buildExtension(folder);
  console.log(`${folder}: open chrome://extensions, turn on developer mode, and load this folder unpacked`);
});
