// Emscripten 3.1.69 for Debian 12: packages of Debian 13 in a private prefix, with Debian 12's LLVM 19.
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, cachedFolder, verify } from './cache.mjs';
import { privateRelease } from './debian.mjs';
import { capture } from './exec.mjs';

const kPackages = {
  emscripten: 'd2ac788b952c56ab6736b4db2ac0825aa63cfb4c08b8abaefe19e324779d1b2d',
  binaryen: '47be56009e56170f4338a0154fbff2028bd607bc3c8b6a5414658a985bef6470',
  'libstdc++6': 'ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0',
  'libgcc-s1': '3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150',
  'node-acorn': '5c6814cf6536892b3a93cc72a0a3792beb0d3f6be3d69f499ca7d764583479a9',
  // Not pinned, because security updates replace it; apt checks its signature.
  libc6: undefined,
};

function download(folder) {
  privateRelease('trixie', join(cacheDir, 'trixie-apt'))(Object.keys(kPackages), folder);
  for (const file of readdirSync(folder)) {
    const pin = kPackages[file.split('_')[0]];
    if (pin) verify(join(folder, file), pin);
  }
}

/** Starts Debian 13's Binaryen with that release's C library, through the loader next to it. */
function wrapBinaryen(prefix, finalPrefix) {
  const libraries = join(finalPrefix, 'usr/lib/x86_64-linux-gnu');
  const bin = join(prefix, 'binaryen/bin');
  mkdirSync(bin, { recursive: true });
  for (const tool of readdirSync(join(prefix, 'usr/bin')).filter((name) => name.startsWith('wasm'))) {
    const command = `${libraries}/ld-linux-x86-64.so.2 --library-path ${libraries} ${finalPrefix}/usr/bin/${tool}`;
    writeFileSync(join(bin, tool), `#!/bin/sh\nexec ${command} "$@"\n`);
    chmodSync(join(bin, tool), 0o755);
  }
}

function configure(prefix, finalPrefix) {
  const root = join(prefix, 'usr/share/emscripten');
  const llvm = capture('llvm-config-19', ['--bindir']).trim();
  const lines = [
    `LLVM_ROOT = '${llvm}'`,
    `BINARYEN_ROOT = '${finalPrefix}/binaryen'`,
    `CACHE = '${finalPrefix}/usr/share/emscripten/cache'`,
  ];
  writeFileSync(join(root, '.emscripten'), `${lines.join('\n')}\n`);
  symlinkSync('../nodejs', join(root, 'node_modules'));
}

const kLayout = 'layout 1';

export function emscriptenKey() {
  return JSON.stringify([kPackages, kLayout]);
}

/** Keys of earlier set-ups also contained the Node version. */
export function isSameEmscripten(found) {
  const list = JSON.parse(found);
  return JSON.stringify([list.at(0), list.at(-1)]) === emscriptenKey();
}

export function unpackEmscripten() {
  const finalPrefix = join(cacheDir, 'emscripten');
  process.env.EM_NODE_JS ??= process.execPath; // for builds started by this process
  const { fresh } = cachedFolder(
    'emscripten',
    emscriptenKey(),
    (partial) => {
      const downloads = join(partial, 'downloads');
      mkdirSync(downloads);
      download(downloads);
      for (const file of readdirSync(downloads)) capture('dpkg', ['-x', join(downloads, file), partial]);
      rmSync(downloads, { recursive: true });
      wrapBinaryen(partial, finalPrefix);
      configure(partial, finalPrefix);
    },
    isSameEmscripten,
  );
  const note = `3.1.69 from Debian 13's packages${fresh ? '' : ', already unpacked'}`;
  return { root: join(finalPrefix, 'usr/share/emscripten'), note };
}
