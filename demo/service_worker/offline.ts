// Lets the page work without a connection: its own files from the first visit on, an engine and a model once they have been
// used. With a connection everything comes fresh from the server; the cache is only for when that fails.

const worker = self as unknown as ServiceWorkerGlobalScope;
const kCache = 'peruse-demo';

/** The page's files, without engines and models: tools/site.mjs writes the list. */
async function storePage(): Promise<void> {
  const files = (await (await fetch('./files.json')).json()) as string[];
  const cache = await caches.open(kCache);
  await cache.addAll(files);
}

async function networkFirst(event: FetchEvent): Promise<Response> {
  const cache = await caches.open(kCache);
  try {
    const response = await fetch(event.request);
    // Cancelled transfers and a full disk leave the cache as it was, and the page goes on.
    if (response.status === 200) event.waitUntil(cache.put(event.request, response.clone()).catch(() => {}));
    return response;
  } catch (error) {
    const stored = await cache.match(event.request, { ignoreSearch: true });
    if (stored) return stored;
    throw error;
  }
}

worker.addEventListener('install', (event) => {
  void worker.skipWaiting();
  event.waitUntil(storePage());
});
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('fetch', (event) => {
  if (event.request.method === 'GET' && new URL(event.request.url).origin === location.origin) {
    event.respondWith(networkFirst(event));
  }
});
