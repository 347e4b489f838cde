// Makes the npm package peruse-transformers: web/alias, with the version of peruse.
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup/root.mjs';

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Replaces `folder`, and returns it. */
export function buildAliasPackage(folder = join(root, 'build/alias-package')) {
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(root, 'web/alias'), folder, { recursive: true });
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const { name, ...rest } = manifestOf(folder);
  const { version, repository } = manifestOf(root);
  const manifest = { name, version, ...rest, repository, dependencies: { peruse: version } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return folder;
}
