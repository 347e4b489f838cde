// The public API in one file, for service workers and other hosts that can neither start workers nor import scripts later.
import { alonePlatform } from './platform/alone.js';
import { setPlatform } from './platform/current.js';

setPlatform(alonePlatform);

export * from './face.js';
