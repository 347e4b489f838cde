// A page of an extension: everything lies within it, models included.
import { pipeline } from './peruse/dist/index.js';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
