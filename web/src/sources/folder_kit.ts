// Reads models' files in a page's own thread: loaded on use (web/bundle/peruse-files.js), because workers read the files of most loads. Workers load it for
// the private file system only.
export { openOpfs } from '../cache/cache_opfs.js';
export { checkModel } from './check_model.js';
export { serveFetch } from './fetch_port.js';
export { fetchInBrowser } from './fetching.js';
export { serveFolder } from './folder_port.js';
export { healing } from './healing.js';
export { openFolder } from './open_folder.js';
export { openStored } from './stored_files.js';
export { readWidened } from './widened.js';
