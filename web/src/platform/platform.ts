// What differs between a browser and Node: one object each.
import type { HostParts } from '../worker/host.js';
import type { PlaceReader } from '../sources/source.js';
import type { Features } from '../engine/variant.js';
import type { WorkerPort } from '../worker/worker_host.js';

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
