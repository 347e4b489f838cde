import { setRuntime } from './platform/current.js';
import { pageRuntime } from './platform/platform_browser.js';

setRuntime(pageRuntime);

export * from './face.js';
