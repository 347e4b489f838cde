#!/usr/bin/env node
// Compares the versions of the packed packages with the tag and with CHANGELOG.md: node tools/release/version.mjs [--tag v1.2.3] <packages.tgz>
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { capture } from '../setup/exec.mjs';
import { runAsProgram } from '../setup/main_module.mjs';
import { root } from '../setup/root.mjs';

/**
 * Returns what is wrong, one sentence each. `versions` has each package's version by its name. Without `tag` nothing is released, so CHANGELOG.md may have
 * any head.
 */
export function versionFaults({ versions, changelog, tag }) {
  const version = versions.peruse;
  const others = ['peruse-demo', 'peruse-transformers'].filter((name) => versions[name] !== version);
  const faults = others.map((name) => `${name} has version ${versions[name]}, and peruse has ${version}.`);
  if (tag === undefined) return faults;
  if (tag !== `v${version}`) faults.push(`The tag is ${tag}; package.json's version needs v${version}.`);
  const heads = [...changelog.matchAll(/^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$/gm)].filter(([, name]) => name !== 'Unreleased');
  const [, head, date] = heads[0] ?? [];
  if (head !== version) faults.push(`CHANGELOG.md's newest version is ${head ?? 'missing'}, not ${version}. Run npm version ${version}.`);
  else if (date === undefined) faults.push(`CHANGELOG.md lacks the date of ${version}.`);
  return faults;
}

/** Throws an Error that lists what is wrong. Returns the version. */
export function checkVersions(tarballs, tag) {
  const manifests = tarballs.map((file) => JSON.parse(capture('tar', ['-xzOf', file, 'package/package.json'])));
  const versions = Object.fromEntries(manifests.map(({ name, version }) => [name, version]));
  const faults = versionFaults({ versions, changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), tag });
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return versions.peruse;
}

await runAsProgram(import.meta.url, () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { tag: { type: 'string' } } });
  console.log(checkVersions(positionals, values.tag));
});
