import { expect, test } from 'vitest';

const { missingPrograms, systemOf } = (await import(new URL('../../tools/setup/needed.mjs', import.meta.url).href)) as {
  missingPrograms(find: (name: string) => string | undefined, system?: string): string | undefined;
  systemOf(platform: string, release: string): string | undefined;
};
type System = { id: string; release: number };
const { aptSystemOf, hasDebianMirror } = (await import(new URL('../../tools/setup/debian.mjs', import.meta.url).href)) as {
  aptSystemOf(release: string): System | undefined;
  hasDebianMirror(system: System | undefined, environment: { PERUSE_DEBIAN_MIRROR?: string }): boolean;
};
const { wanted } = (await import(new URL('../../tools/setup/packages.mjs', import.meta.url).href)) as { wanted(system: System): string[] };

test('systems that are not Debian', () => {
  expect(systemOf('darwin', '')).toBe('macos');
  expect(systemOf('linux', 'NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n')).toBe('ubuntu');
  expect(systemOf('linux', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n')).toBe('ubuntu');
  expect(systemOf('linux', 'ID="rocky"\nID_LIKE="rhel centos fedora"\n')).toBe('fedora');
  expect(systemOf('linux', 'ID=nixos\n')).toBeUndefined();
});

test('one sentence names what is missing and the command that installs it', () => {
  expect(missingPrograms((name) => `/usr/bin/${name}`, 'fedora')).toBeUndefined();
  expect(missingPrograms((name) => (name === 'clang++-18' || !name.startsWith('clang') ? name : undefined), 'ubuntu')).toBeUndefined();
  const words = missingPrograms((name) => (name === 'git' || name === 'python3' ? name : undefined), 'fedora')!;
  expect(words).toMatch(/^Missing: cmake, ninja, clang\+\+\. Run: sudo dnf install .*ninja-build.*\. Then run npm run setup again\.$/);
  expect(missingPrograms(() => undefined, undefined)).toContain('clang 15 or newer');
});

test('systems whose packages set-up installs itself', () => {
  const release = (id: string, version: string) => `PRETTY_NAME="x"\nID=${id}\nVERSION_ID="${version}"\nID_LIKE=debian\n`;
  expect(aptSystemOf(release('ubuntu', '26.04'))).toEqual({ id: 'ubuntu', release: 26.04 });
  expect(aptSystemOf(release('ubuntu', '25.10'))?.id).toBe('ubuntu');
  expect(aptSystemOf(release('ubuntu', '25.04'))).toBeUndefined(); // its Node is older than 20.19
  expect(aptSystemOf(release('ubuntu', '24.04'))).toBeUndefined();
  expect(aptSystemOf(release('debian', '12'))).toEqual({ id: 'debian', release: 12 });
  expect(aptSystemOf(release('debian', '11'))).toBeUndefined();
  expect(aptSystemOf('ID=debian\n')).toBeUndefined(); // unstable
  expect(aptSystemOf(release('linuxmint', '22'))).toBeUndefined();
  expect(wanted({ id: 'ubuntu', release: 26.04 })).toEqual(expect.arrayContaining(['clang-19', 'emscripten']));
  expect(wanted({ id: 'ubuntu', release: 26.04 })).not.toContain('chromium'); // a snap there
  expect(wanted({ id: 'debian', release: 12 })).not.toContain('emscripten');
  expect(wanted({ id: 'debian', release: 13 })).toEqual(expect.arrayContaining(['chromium', 'emscripten', 'libstdc++-14-dev']));
});

test("Ubuntu takes sources from Debian's mirror only if one is named, and other systems never", () => {
  const ubuntu = { id: 'ubuntu', release: 26.04 };
  expect(hasDebianMirror({ id: 'debian', release: 13 }, {})).toBe(true);
  expect(hasDebianMirror(ubuntu, {})).toBe(false);
  expect(hasDebianMirror(ubuntu, { PERUSE_DEBIAN_MIRROR: 'http://mirror.example/debian' })).toBe(true);
  expect(hasDebianMirror(undefined, { PERUSE_DEBIAN_MIRROR: 'http://mirror.example/debian' })).toBe(false);
});
