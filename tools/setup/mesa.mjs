// Mesa's Vulkan drivers from Debian's packages, in a separate folder. lavapipe runs the GPU tests (tests/node/gpu/with_lavapipe.mjs); RADV and
// ANV compile shaders for AMD's and Intel's GPUs without one (tests/bench/gpu_stats.mjs). Chromium and WebKit bring the libraries that the
// drivers need.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheDir, cachedFolder, readEnvironment, verify } from './cache.mjs';
import { privateRelease } from './debian.mjs';
import { capture } from './exec.mjs';

/** By release of Debian: the suite, and each package's version and hash. */
const kPackages = {
  12: {
    suite: 'bookworm-backports',
    packages: {
      'mesa-vulkan-drivers': ['25.0.7-2~bpo12+1', '3899f1800424c60a05df5d6913076a526ca8fdbabec43672cd397563d1ca3263'],
      'mesa-drm-shim': ['25.0.7-2~bpo12+1', '84c85a500282323ab18de59c374f133edb1f5d7d25d339154ff218c3ed6b8353'],
      libdrm2: ['2.4.123-1~bpo12+1', '9cc2f341964286295124a32d3625edb76730500625e54a1e682761f883064d7b'],
      'libdrm-amdgpu1': ['2.4.123-1~bpo12+1', '334e2ae389af0e9cb607c2ccfbbf7ae9feb34131ff998550baeffeeae6cda296'],
    },
  },
  13: {
    suite: 'trixie',
    packages: {
      'mesa-vulkan-drivers': ['25.0.7-2+deb13u1', 'caf2f7d296b7522efe74e40a74bce762a3ce84c33b53b5e54e1248ac2e0a13a5'],
      'mesa-drm-shim': ['25.0.7-2+deb13u1', '458dda92b0f60465e32189249bc4b47a4edde27dbd9a0c7af2de2b73501613fd'],
    },
  },
};

const kPrefix = join(cacheDir, 'mesa');
const kLibraries = 'usr/lib/x86_64-linux-gnu';
const kManifests = 'usr/share/vulkan/icd.d';

function placeDrivers(prefix) {
  const folder = join(prefix, kManifests);
  for (const file of readdirSync(folder)) {
    const manifest = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    const driver = manifest.ICD.library_path.split('/').at(-1);
    manifest.ICD.library_path = join(kPrefix, kLibraries, driver);
    writeFileSync(join(folder, file), JSON.stringify(manifest));
  }
}

function fill(partial, known) {
  const downloads = join(partial, 'downloads');
  mkdirSync(downloads);
  const names = Object.entries(known.packages).map(([name, [version]]) => `${name}=${version}`);
  privateRelease(known.suite, join(cacheDir, `${known.suite}-apt`))(names, downloads);
  for (const file of readdirSync(downloads)) {
    verify(join(downloads, file), known.packages[file.split('_')[0]][1]);
    capture('dpkg', ['-x', join(downloads, file), partial]);
  }
  rmSync(downloads, { recursive: true });
  placeDrivers(partial);
}

export function unpackMesa(system) {
  const known = system?.id === 'debian' ? kPackages[system.release] : undefined;
  if (!known) return 'for Debian 12 and 13 only: the suites gpu-lavapipe and gpu-stats will fail';
  const [version] = known.packages['mesa-vulkan-drivers'];
  try {
    const { fresh } = cachedFolder('mesa', JSON.stringify(known), (partial) => fill(partial, known));
    return `${version}${fresh ? '' : ', already unpacked'}`;
  } catch (error) {
    // Debian removes replaced versions. Nothing else needs these drivers.
    return `the suites gpu-lavapipe and gpu-stats will fail without ${version}: ${error.message}`;
  }
}

/** The variables that make Dawn find a driver, lvp, intel or radeon. They must be set when a process starts. */
export function mesaEnvironment(driver) {
  if (!existsSync(kPrefix)) throw new Error(`no ${kPrefix}: npm run setup brings it, on Debian 12 and 13`);
  const { chromium } = readEnvironment();
  const manifests = join(kPrefix, kManifests);
  const manifest = join(
    manifests,
    readdirSync(manifests).find((file) => file.startsWith(`${driver}_icd`)),
  );
  const libraries = [join(kPrefix, kLibraries), dirname(chromium.swiftshaderIcd), process.env.LD_LIBRARY_PATH];
  return {
    VK_DRIVER_FILES: manifest,
    VK_ICD_FILENAMES: manifest,
    LD_LIBRARY_PATH: libraries.filter(Boolean).join(':'),
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
    MESA_SHADER_CACHE_DISABLE: 'true',
  };
}

/** The same for RADV with `chip` as a simulated GPU, on which pipelines can be compiled but not run. */
export function radvEnvironment(chip) {
  const environment = mesaEnvironment('radeon');
  return {
    ...environment,
    LD_PRELOAD: join(kPrefix, kLibraries, 'libamdgpu_noop_drm_shim.so'),
    AMDGPU_GPU_ID: chip,
  };
}
