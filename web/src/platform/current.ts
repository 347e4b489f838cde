// The platform that the package runs on.
import type { Platform } from './platform.js';
import { browserPlatform } from './platform_browser.js';

let current: Platform = browserPlatform;

export function platform(): Platform {
  return current;
}

/** Called once by the package's entry for Node. */
export function setPlatform(next: Platform): void {
  current = next;
}
