// Lets the page work without a connection: its own files from the first moment on, engines and models once they have been used
// or the visitor asks for them all. With a connection everything comes fresh from the server; the cache is only for when that fails.
// It also tells the page of every request that the page or one of its workers makes.

const worker = self as unknown as ServiceWorkerGlobalScope;
const kCache = 'peruse-demo';

/** The site's files: the page's own, and what it needs only in use. tools/site.mjs writes the lists. */
interface SiteFiles {
  /** Another one says that the site has changed. */
  version: string;
  page: string[];
  inUse: string[];
}

async function siteFiles(): Promise<SiteFiles> {
  return (await fetch('./files.json')).json() as Promise<SiteFiles>;
}

async function storePage(): Promise<void> {
  const cache = await caches.open(kCache);
  await cache.addAll(['./files.json', ...(await siteFiles()).page]);
}

/** Stores what the visitor has not used yet, or not since the site has changed, one file after the other. */
async function storeAll(): Promise<void> {
  const cache = await caches.open(kCache);
  const { version, inUse } = await siteFiles();
  const isCurrent = (await (await cache.match('./kept'))?.text()) === version;
  for (const file of inUse) {
    if (!isCurrent || !(await cache.match(file))) await cache.add(file);
  }
  await cache.put('./kept', new Response(version));
}

/** Tells all pages of the site of a request; a worker's is its page's too. */
async function tell(request: string, at: number, size: number): Promise<void> {
  for (const client of await worker.clients.matchAll({ type: 'window' })) client.postMessage({ request, at, bytes: size });
}

async function networkFirst(event: FetchEvent, at: number): Promise<Response> {
  const cache = await caches.open(kCache);
  try {
    const response = await fetch(event.request);
    void tell(event.request.url, at, Number(response.headers.get('content-length') ?? 0));
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
worker.addEventListener('message', (event) => {
  if (event.data !== 'keep all') return;
  // Without a connection or room on the disk, what is stored by then stays, and the next visit goes on.
  event.waitUntil(
    storeAll().then(
      () => event.source?.postMessage('all kept'),
      () => event.source?.postMessage('not all kept'),
    ),
  );
});
worker.addEventListener('fetch', (event) => {
  const at = Date.now();
  if (event.request.method === 'GET' && new URL(event.request.url).origin === location.origin) {
    event.respondWith(networkFirst(event, at));
  } else {
    void tell(event.request.url, at, 0);
  }
});
