import { setPlatform } from './platform/current.js';
import { browserPlatform } from './platform/platform_browser.js';

setPlatform(browserPlatform);

export * from './face.js';
