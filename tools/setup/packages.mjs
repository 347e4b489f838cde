import { asRoot, capture, tryCapture } from './exec.mjs';

const kPackages = [
  'ca-certificates',
  'ccache',
  'clang-19',
  'clang-format-19',
  'cmake',
  'git',
  'libclang-rt-19-dev',
  'lld-19',
  'llvm-19',
  'ninja-build',
  'python3',
  'xz-utils',
];

/** Debian only: Ubuntu's browsers are snaps, which containers cannot run. */
const kBrowsers = ['chromium', 'firefox-esr', 'webkit2gtk-driver', 'xvfb'];

/** The toolchain for WebAssembly is a package, except on Debian 12; its compiler needs a newer C++ library than Debian 12's. */
const kEmscripten = ['emscripten', 'libstdc++-14-dev'];

export function wanted({ id, release }) {
  if (id === 'ubuntu') return [...kPackages, ...kEmscripten];
  return [...kPackages, ...kBrowsers, ...(release < 13 ? ['libstdc++-12-dev'] : kEmscripten)];
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
const kDpkgLine = '${Package} ${db:Status-Abbrev}\n';

function installed() {
  const list = tryCapture('dpkg-query', ['-W', '-f', kDpkgLine]) ?? '';
  return new Set(
    list
      .split('\n')
      .filter((line) => / ii/.test(line))
      .map((line) => line.split(' ')[0]),
  );
}

export function installPackages(system) {
  const present = installed();
  const missing = wanted(system).filter((name) => !present.has(name));
  if (missing.length === 0) return 'all present';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => capture(...asRoot('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args]), { env });
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...missing);
  return `installed ${missing.join(' ')}`;
}
