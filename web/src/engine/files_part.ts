// What pages and workers load on use of reading files (web/bundle/peruse-files.js): the readers that a page's own thread needs, the private file
// system, and descriptions of models, which read the same files.
export {
  checkModel,
  healing,
  openFolder,
  openOpfs,
  openStored,
  readWidened,
  serveFolder,
} from '../sources/folders/folder_kit.js';
export { describeModel } from './models/describe_model.js';
