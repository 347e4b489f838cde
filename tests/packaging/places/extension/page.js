// A page of an extension: everything lies within it, models included.
import { pipeline } from './peruse/peruse.js';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
