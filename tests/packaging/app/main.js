// An app of somebody who has installed the package.
import { pipeline } from 'peruse';
import { work } from './work.js';

globalThis.work = () => work(pipeline);
