// Entry of web/bundle/peruse.js: the public API in browsers, and exports for the other bundles (tools/bundle.mjs). Sets the platform itself,
// because bundlers drop side effects of intermediate modules.
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
export { provideGradients } from './pipeline_members.js';
export { platform } from './platform/current.js';
export { sendable } from './sources/sendable.js';
export { resolveSource } from './sources/source.js';
export { definitionOf, engineTask, kClassification, kEmbedding, kTaskNames } from './tasks/tasks.js';
export { Remote } from './worker/remote_host.js';
export { startBrowserWorker, workerScript } from './worker/start_worker_browser.js';
