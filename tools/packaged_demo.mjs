#!/usr/bin/env node
// Copies the demo page, without engine and models, to web/demo in the package, for `peruse serve-demo`.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { buildSite, bytesOf } from './site.mjs';

/** The engine and the models are in other folders; the rest is for public hosts. */
const kElsewhere = ['peruse', 'models', 'preview.png', '404.html', '.nojekyll'];

export async function buildPackagedDemo() {
  // The package has the guides as Markdown, which serve-demo serves.
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // Without a public repository, the source is that of the installed package, which serve-demo lists.
  const pages = { docs: 'markdown', source: repository?.url?.replace(/^git\+|\.git$/g, '') ?? './source/index.html' };
  const site = await buildSite({ folder: join(root, 'build/packaged-site'), pages });
  const demo = join(root, 'web/demo');
  rmSync(demo, { recursive: true, force: true });
  cpSync(site, demo, { recursive: true, filter: (path) => !kElsewhere.includes(relative(site, path).split(sep)[0]) });
  // The service worker stores the files in this list, without models.
  const list = join(demo, 'files.json');
  const files = JSON.parse(readFileSync(list, 'utf8'));
  const isOwn = (file) => !file.startsWith('models/');
  const inUse = files.inUse.filter(isOwn);
  const sha256 = Object.fromEntries(Object.entries(files.sha256).filter(([file]) => isOwn(file)));
  writeFileSync(list, `${JSON.stringify({ ...files, inUse, sha256, bytesInUse: bytesOf(inUse, site) }, null, 1)}\n`);
}

await runAsProgram(import.meta.url, buildPackagedDemo);
