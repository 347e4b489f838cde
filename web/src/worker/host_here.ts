// Entry of peruse-host.js: the engine's host in a thread that has work of its own, which is a page or a program's worker.
import { startHelpersBy } from '../engine/helper_browser.js';
import type { ProgressCallback } from '../progress.js';
import type { Host } from './host.js';
import { LocalHost } from './local_host.js';
import type { PackageFiles } from './own_files.js';
import { browserRuntime } from './runtime_browser.js';

/** `files` are addresses: this script is copied, so it does not know where its bundler puts other files. `startThread` starts peruse-worker.js. */
export function hostHere(report: ProgressCallback, files: PackageFiles, startThread: () => Worker): Host {
  startHelpersBy(startThread);
  return new LocalHost(report, browserRuntime(files));
}
