import { expect, test } from 'vitest';

const { missingPrograms, systemOf } = (await import(new URL('../../tools/setup/needed.mjs', import.meta.url).href)) as {
  missingPrograms(find: (name: string) => string | undefined, system?: string): string | undefined;
  systemOf(platform: string, release: string): string | undefined;
};

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
