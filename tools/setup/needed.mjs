// The programs that a build needs, and how systems install them whose packages set-up does not install itself (debian.mjs).
import { existsSync, readFileSync } from 'node:fs';
import { which } from './exec.mjs';

/** Any of the names of a row will do. */
const kPrograms = [
  ['cmake'],
  ['ninja'],
  ['git'],
  ['python3'],
  ['clang++', 'clang++-19', 'clang++-18', 'clang++-17', 'clang++-16', 'clang++-15'],
];

const kInstall = {
  macos: 'brew install ccache cmake llvm ninja, and xcode-select --install',
  fedora: 'sudo dnf install ccache chromium clang cmake compiler-rt git lld llvm ninja-build python3',
  ubuntu: 'sudo apt-get install ccache clang cmake git lld llvm ninja-build python3',
};

/** The row of kInstall for a system; undefined for others. `release` is the text of /etc/os-release. */
export function systemOf(platform, release) {
  if (platform === 'darwin') return 'macos';
  const ids = /^ID(?:_LIKE)?="?(.*?)"?$/gm;
  const names = [...release.matchAll(ids)].flatMap(([, id]) => id.split(' '));
  return Object.keys(kInstall).find((name) => names.includes(name));
}

/** One sentence on what is missing, or undefined. `find` returns a program's path. */
export function missingPrograms(find = which, system = thisSystem()) {
  const missing = kPrograms.filter((names) => !names.some((name) => find(name))).map(([name]) => name);
  if (missing.length === 0) return undefined;
  const how = system === undefined ? 'install them (clang 15 or newer)' : kInstall[system];
  return `Missing: ${missing.join(', ')}. Run: ${how}. Then run npm run setup again.`;
}

function thisSystem() {
  const file = '/etc/os-release';
  return systemOf(process.platform, existsSync(file) ? readFileSync(file, 'utf8') : '');
}
