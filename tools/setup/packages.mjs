import { asRoot, capture, tryCapture } from './exec.mjs';

const kPackages = [
  'ca-certificates',
  'ccache',
  'chromium',
  'clang-19',
  'clang-format-19',
  'cmake',
  'firefox-esr',
  'git',
  'libclang-rt-19-dev',
  'libstdc++-12-dev',
  'lld-19',
  'llvm-19',
  'ninja-build',
  'python3',
  'webkit2gtk-driver',
  'xvfb',
  'xz-utils',
];

/** On Debian 13 the toolchain is a package, and its compiler needs a newer C++ library. */
function wanted(release) {
  if (release < 13) return kPackages;
  return [...kPackages.filter((name) => name !== 'libstdc++-12-dev'), 'libstdc++-14-dev', 'emscripten'];
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

export function installPackages(release) {
  const present = installed();
  const missing = wanted(release).filter((name) => !present.has(name));
  if (missing.length === 0) return 'all present';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => capture(...asRoot('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args]), { env });
  apt('update');
  apt('install', '-y', '--no-install-recommends', ...missing);
  return `installed ${missing.join(' ')}`;
}
