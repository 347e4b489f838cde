// A service worker may not use import(), so the package has an entry for it.
import { pipeline } from './peruse/peruse-service-worker.js';
import { work } from './work.js';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('message', (event) => {
  const answer = work(pipeline, event.data).catch((error) => ({ error: `${error.code}: ${error.message}` }));
  event.waitUntil(answer.then((result) => event.ports[0].postMessage(result)));
});
