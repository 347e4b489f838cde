// An app that Vite bundles.
import { pipeline } from '../../../../web/dist/index.js';
import { work } from '../work.js';

globalThis.work = () => work(pipeline);
