// Entry of peruse-host.js: the engine's host in a thread that has work of its own, which is a page or a program's worker.
import { startHelpersBy } from '../engine/helper_browser.js';
import type { ProgressCallback } from '../progress.js';
import type { Host } from './host.js';
import { LocalHost } from './local_host.js';
import { browserEngines, type PackageFiles } from './runtime_browser.js';

/**
 * `files` are addresses, or the URL of the folder that has the files: this script is copied, so it does not know where its bundler puts them.
 * `startThread` starts peruse-worker.js.
 */
export function hostHere(report: ProgressCallback, files: PackageFiles | string, startThread: () => Worker): Host {
  startHelpersBy(startThread);
  return new LocalHost(report, browserEngines(typeof files === 'string' ? filesIn(files) : files));
}

const kBuilds = ['simd', 'relaxed', 'simd-threads', 'relaxed-threads', 'webgpu'] as const;

function filesIn(folder: string): PackageFiles {
  const at = (name: string) => () => new URL(name, folder);
  const builds = kBuilds.map((build) => [build, at(`peruse-${build}.wasm`)]);
  return {
    builds: Object.fromEntries(builds) as PackageFiles['builds'],
    gpu: at('peruse-gpu.js'),
    onnx: at('peruse-onnx.js'),
    files: at('peruse-files.js'),
  };
}
