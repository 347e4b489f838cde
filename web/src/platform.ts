// What differs between a browser and Node: one object each.
import type { HostParts } from './host.js';
import { browserPlatform } from './platform_browser.js';
import type { PlaceReader } from './source.js';
import type { Features } from './variant.js';
import type { WorkerPort } from './worker_host.js';

export interface Platform {
  /** Whether work goes to a worker unless the caller says otherwise. */
  workerByDefault: boolean;
  /** What the machine has, seen from where the engine will run. */
  features(inWorker: boolean): Features;
  /** Starts the package's own worker. */
  startWorker(): WorkerPort;
  places: PlaceReader;
  hostParts: HostParts;
}

let current: Platform = browserPlatform;

export function platform(): Platform {
  return current;
}

/** Called once by the package's entry for Node. */
export function setPlatform(next: Platform): void {
  current = next;
}
