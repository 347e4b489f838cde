// Called by `npm version`: gives what CHANGELOG.md has under [Unreleased] the new version and the date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runAsProgram } from '../setup/main_module.mjs';
import { root } from '../setup/root.mjs';

/** Returns the text of CHANGELOG.md in which the unreleased changes are those of `version`. Throws if there are no unreleased changes. */
export function released(changelog, version, date) {
  const [, before, changes, after] = /^([\s\S]*?## \[Unreleased\]\n)([\s\S]*?)(?=\n## \[|$(?![\s\S]))([\s\S]*)$/.exec(changelog) ?? [];
  if (before === undefined) throw new Error('CHANGELOG.md has no section [Unreleased].');
  if (!/^[-*] /m.test(changes)) throw new Error('CHANGELOG.md lists no changes under [Unreleased].');
  return `${before}\n## [${version}] - ${date}\n${changes}${after}`;
}

await runAsProgram(import.meta.url, () => {
  const file = join(root, 'CHANGELOG.md');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(file, released(readFileSync(file, 'utf8'), version, new Date().toISOString().slice(0, 10)));
});
