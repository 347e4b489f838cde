// A worker of somebody's own.
import { pipeline } from './peruse/peruse.js';
import { work } from './work.js';

self.postMessage(await work(pipeline));
