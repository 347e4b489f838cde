import { pipeline } from './peruse/peruse.js';
import { work } from './work.js';

self.postMessage(await work(pipeline));
