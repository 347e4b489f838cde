// A page of an extension, which contains all files, also the models.
import { pipeline } from './peruse/peruse.js';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
