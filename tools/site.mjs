// Assembles the demo page: build/site holds the page, its compiled script in app/, the package in peruse/, models/.
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from './setup/exec.mjs';
import { root } from './setup/root.mjs';

export const kSite = join(root, 'build/site');
const kNotForTheSite = new Set(['src', 'tsconfig.json', 'README.md']);

/** Builds the site from demo/, web/dist, web/wasm and models/ (all of which exist by now); returns its folder. */
export function buildSite() {
  rmSync(kSite, { recursive: true, force: true });
  mkdirSync(kSite, { recursive: true });
  for (const entry of readdirSync(join(root, 'demo')))
    if (!kNotForTheSite.has(entry)) cpSync(join(root, 'demo', entry), join(kSite, entry), { recursive: true });
  for (const part of ['dist', 'wasm']) cpSync(join(root, 'web', part), join(kSite, 'peruse', part), { recursive: true });
  if (existsSync(join(root, 'models'))) cpSync(join(root, 'models'), join(kSite, 'models'), { recursive: true });
  capture('npx', ['--no-install', 'tsc', '-p', 'demo/tsconfig.json'], { cwd: root });
  return kSite;
}
