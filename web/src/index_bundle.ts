// What web/bundle/peruse.js holds: the package's face in browsers (index.ts), and what the other bundles share with it
// (tools/bundle.mjs). It says for itself what the platform is: a bundler leaves out what a module between does beside its exports.
import { setPlatform } from './platform/current.js';
import { browserPlatform } from './platform/platform_browser.js';

setPlatform(browserPlatform);

export { filesFolder } from './engine/files_browser.js';
export { chooseThreads } from './engine/variant.js';
export { envNotices, mostThreads } from './env.js';
export * from './errors.js';
export * from './face.js';
export { Listener } from './listener.js';
export { checkLoadOptions } from './load_options.js';
export { platform } from './platform/current.js';
export { sendable } from './sources/sendable.js';
export { resolveSource } from './sources/source.js';
export { startBrowserWorker, workerScript } from './worker/start_browser.js';
export { RemoteHost } from './worker/worker_host.js';
