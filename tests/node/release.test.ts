// The checks of a release (tools/release.mjs) and the changelog of `npm version`.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Versions = { versions: Record<string, string>; changelog: string; tag?: string };
const load = (path: string) => import(new URL(`../../tools/${path}`, import.meta.url).href);
const { versionFaults } = (await load('release/version.mjs')) as { versionFaults(versions: Versions): string[] };
const { buildAliasPackage } = (await load('alias_package.mjs')) as { buildAliasPackage(folder: string): string };
const { released } = (await load('release/changelog.mjs')) as { released(changelog: string, version: string, date: string): string };

const kChangelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n';

test('npm version gives the unreleased changes the version and the date, and keeps older ones', () => {
  const changelog = released(kChangelog, '0.2.0', '2026-02-03');
  expect(changelog).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n',
  );
  expect(() => released(changelog, '0.3.0', '2026-02-04')).toThrow('lists no changes');
  expect(() => released('# Changelog\n', '0.3.0', '2026-02-04')).toThrow('no section');
});

test('a release needs one version in all packages, in the tag and at the head of the changelog', () => {
  const changelog = released(kChangelog, '0.2.0', '2026-02-03');
  const versions = { peruse: '0.2.0', 'peruse-demo': '0.2.0', 'peruse-transformers': '0.2.0' };
  const good = { versions, changelog, tag: 'v0.2.0' };
  expect(versionFaults(good)).toEqual([]);
  expect(versionFaults({ ...good, tag: undefined, changelog: kChangelog })).toEqual([]);
  expect(versionFaults({ ...good, versions: { ...versions, 'peruse-demo': '0.1.0' } })).toEqual([
    'peruse-demo has version 0.1.0, and peruse has 0.2.0.',
  ]);
  expect(versionFaults({ ...good, versions: { peruse: '0.2.0', 'peruse-demo': '0.2.0' } })).toEqual([
    'peruse-transformers has version undefined, and peruse has 0.2.0.',
  ]);
  expect(versionFaults({ ...good, tag: 'v0.3.0' })).toEqual(["The tag is v0.3.0; package.json's version needs v0.2.0."]);
  expect(versionFaults({ ...good, changelog: kChangelog })).toEqual([
    "CHANGELOG.md's newest version is 0.1.0, not 0.2.0. Run npm version 0.2.0.",
  ]);
  expect(versionFaults({ ...good, changelog: changelog.replace(' - 2026-02-03', '') })).toEqual(['CHANGELOG.md lacks the date of 0.2.0.']);
});

test('peruse-transformers has the version of peruse, and needs exactly that', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  const folder = mkdtempSync(join(tmpdir(), 'peruse-alias-'));
  try {
    buildAliasPackage(folder);
    expect(readdirSync(folder).sort()).toEqual(['LICENSE', 'index.d.ts', 'index.js', 'package.json']);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ name: 'peruse-transformers', version, dependencies: { peruse: version } });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every action of the workflows is pinned by the hash of a commit', () => {
  const folder = new URL('../../.github/workflows/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const uses = [...readFileSync(new URL(name, folder), 'utf8').matchAll(/uses: (\S+)/g)].map(([, action]) => action!);
    for (const action of uses.filter((one) => !one.startsWith('./'))) expect(action, name).toMatch(/@[0-9a-f]{40}$/);
  }
});
