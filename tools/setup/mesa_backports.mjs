// A later Mesa, of Debian 13's backports, with the compilers for NVIDIA's and Apple's GPUs, which no driver of Debian 12 has. Only
// tests/bench/gpu_stats.mjs uses it, so it is downloaded there. It brings its own C library and runs on Debian 12 and 13.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDir, cachedFolder, readEnvironment, verify } from './cache.mjs';
import { privateRelease } from './debian.mjs';
import { capture } from './exec.mjs';

const kVersion = '26.1.6-1~bpo13+1';
const kDrivers = {
  'mesa-vulkan-drivers': 'e2d4a843b8c55ed17c1e8856805f67b553b013b6ce5f15faeec4db7d4d38ff90',
  'mesa-drm-shim': '0c42b1487521f09a0fbfe155c5758a419d9372336d0998e46ffb3adfe609a736',
};
/** Libraries that the drivers load. They do not affect what is measured, so these are Debian's current versions; apt checks their signatures. */
const kLibraries = ['libc6', 'libdisplay-info2', 'libdrm2', 'libgcc-s1', 'libstdc++6'];

const kFolder = 'usr/lib/x86_64-linux-gnu';

function fill(partial) {
  const downloads = join(partial, 'downloads');
  mkdirSync(downloads);
  privateRelease('trixie', join(cacheDir, 'trixie-apt'))(kLibraries, downloads);
  const drivers = Object.keys(kDrivers).map((name) => `${name}=${kVersion}`);
  privateRelease('trixie-backports', join(cacheDir, 'trixie-backports-apt'))(drivers, downloads);
  for (const file of readdirSync(downloads)) {
    const pin = kDrivers[file.split('_')[0]];
    if (pin) verify(join(downloads, file), pin);
    capture('dpkg', ['-x', join(downloads, file), partial]);
  }
  rmSync(downloads, { recursive: true });
}

/** Unpacks the drivers unless that is done, and returns their folder. Throws if Debian no longer has this version. */
export function mesaOfBackports() {
  const { folder } = cachedFolder('mesa-backports', JSON.stringify([kVersion, kDrivers, kLibraries]), fill);
  return folder;
}

/** The command and the variables with which Node finds `driver` (nouveau or asahi) with a simulated GPU, which compiles but doesn't run. */
export function nodeWith(driver, prefix) {
  const libraries = join(prefix, kFolder);
  const manifest = join(prefix, `${driver}.json`);
  const library_path = join(libraries, `libvulkan_${driver}.so`);
  writeFileSync(manifest, JSON.stringify({ file_format_version: '1.0.0', ICD: { api_version: '1.4.0', library_path } }));
  const { chromium } = readEnvironment();
  const path = [libraries, dirname(chromium.swiftshaderIcd), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  const shim = join(libraries, `lib${driver}_noop_drm_shim.so`);
  return {
    command: [join(libraries, 'ld-linux-x86-64.so.2'), '--preload', shim, '--library-path', path, process.execPath],
    env: {
      VK_DRIVER_FILES: manifest,
      VK_ICD_FILENAMES: manifest,
      XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
      MESA_SHADER_CACHE_DISABLE: 'true',
    },
  };
}
