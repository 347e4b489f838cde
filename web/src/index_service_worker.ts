// The public API in one file, for service workers and other hosts that can neither start workers nor import scripts later.
import { aloneRuntime } from './platform/alone.js';
import { setRuntime } from './platform/current.js';

setRuntime(aloneRuntime);

export * from './face.js';
