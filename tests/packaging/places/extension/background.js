import { pipeline } from './peruse/peruse-service-worker.js';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
