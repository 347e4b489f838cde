import { pipeline } from '/web/bundle/peruse.js';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
