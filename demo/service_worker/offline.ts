// Lets the page work without a connection. Stores the page's own files at installation, and engines and models after their first use or
// when the page is idle. Until they are stored, files come from the server if there is a connection. Also reports every request of the page
// and its workers to the page, and isolates the page where its host does not (peruse/isolate), because threads need isolation.

import { decidesIsolation, isolated } from '../../web/src/isolated_response.js';

const worker = self as unknown as ServiceWorkerGlobalScope;
const kCache = 'peruse-demo';

/** The site's files, listed by tools/site.mjs. */
interface SiteFiles {
  version: string;
  page: string[];
  inUse: string[];
  /** SHA-256 of each file but the page itself, into which some hosts write. */
  sha256: Record<string, string>;
}

async function siteFiles(): Promise<SiteFiles> {
  return (await fetch('./files.json')).json() as Promise<SiteFiles>;
}

async function storePage(): Promise<void> {
  const cache = await caches.open(kCache);
  const { page } = await siteFiles();
  await Promise.all([cache.add('./files.json'), ...page.map((address) => fetchInto(cache, address))]);
}

/** Stores a file if it is the one that files.json lists. */
async function fetchInto(cache: Cache, address: string, signal?: AbortSignal): Promise<void> {
  const response = await fetch(new Request(addressInSite(address), signal ? { signal } : {}));
  if (!(await isOurs(addressInSite(address), response.clone()))) throw new TypeError(`${address} is not the file of this site`);
  await cache.put(address, response);
}

/** Files by address that this worker has stored or is storing. They are of the current version. */
const current = new Map<string, Promise<void>>();
let currentVersion = '';

/** The file that storeAll() is downloading. */
let storing: { readonly address: string; readonly stop: AbortController } | undefined;
/** Downloads of the page. storeAll() waits for them. */
const downloads = new Set<Promise<void>>();

/** Ends the download of storeAll(), which begins again after this one of the page. Files of one folder are needed together. */
function giveWay(address: string, download: Promise<void>): void {
  const folderOf = (file: string) => file.replace(/[^/]*$/, '');
  if (storing && folderOf(storing.address) !== folderOf(address)) storing.stop.abort();
  downloads.add(download);
  void download.finally(() => downloads.delete(download));
}

async function store(cache: Cache, address: string): Promise<void> {
  for (;;) {
    while (downloads.size > 0) await Promise.all(downloads);
    if (current.has(address)) return; // The page has stored it meanwhile.
    const stop = new AbortController();
    const stored = fetchInto(cache, address, stop.signal);
    storing = { address, stop };
    current.set(address, stored);
    try {
      return await stored;
    } catch (error) {
      current.delete(address);
      if (!stop.signal.aborted) throw error;
    } finally {
      storing = undefined;
    }
  }
}

/** Stores the files that are missing or have changed, one after another. */
async function storeAll(): Promise<void> {
  const cache = await caches.open(kCache);
  known ??= readKnown();
  const { version, inUse } = await known;
  const isCurrent = (await (await cache.match('./kept'))?.text()) === version;
  for (const address of inUse) {
    if (current.has(address) || (isCurrent && (await cache.match(address)))) continue;
    await store(cache, address);
  }
  await cache.put('./kept', new Response(version));
}

/** Sends the request to all pages of the site. */
async function tell(request: string, at: number, size: number): Promise<void> {
  for (const client of await worker.clients.matchAll({ type: 'window' })) client.postMessage({ request, at, bytes: size });
}

interface Known {
  readonly version: string;
  readonly all: ReadonlySet<string>;
  readonly inUse: ReadonlySet<string>;
  readonly sha256: ReadonlyMap<string, string>;
}

let known: Promise<Known> | undefined;

async function readKnown(): Promise<Known> {
  const stored = async () => (await (await caches.match('./files.json'))?.json()) as SiteFiles;
  const { version, page, inUse, sha256 } = await siteFiles().catch(stored); // A captive portal does not return JSON.
  if (version !== currentVersion) current.clear();
  currentVersion = version;
  const addresses = (files: string[]) => new Set(files.map(addressInSite));
  const digests = new Map(Object.entries(sha256).map(([file, digest]) => [addressInSite(file), digest]));
  return { version, all: addresses([...page, ...inUse]), inUse: addresses(inUse), sha256: digests };
}

function addressOf({ origin, pathname }: URL): string {
  return origin + pathname.replace(/\/index\.html$/, '/');
}

function addressInSite(file: string): string {
  return addressOf(new URL(file, worker.registration.scope));
}

/** Content types by file name. A captive portal returns its own page for every address. */
const kTypes: readonly [RegExp, RegExp][] = [
  [/\/$/, /^text\/html/],
  [/\.(m?js|ts)$/, /javascript/],
  [/\.css$/, /^text\/css/],
  [/\.json$/, /json/],
  [/\.wasm$/, /^application\/wasm/],
];

async function isOurs(address: string, response: Response): Promise<boolean> {
  if (response.status !== 200 || response.redirected) return false;
  if (address.endsWith('/') || known === undefined) known = readKnown(); // Read again at each visit, because the site may have changed.
  const names = await known.catch(() => undefined);
  if (names === undefined) known = undefined;
  if (names?.all.has(address) !== true) return false;
  const type = response.headers.get('content-type') ?? '';
  const expected = kTypes.find(([name]) => name.test(address));
  if (expected === undefined ? /^text\/html/.test(type) : !expected[1].test(type)) return false;
  if (address.endsWith('/')) return (await response.clone().text()).includes(kOwnMark);
  return (await sha256Of(response.clone())) === names.sha256.get(address);
}

async function sha256Of(response: Response): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.arrayBuffer()));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A line of the site's page that a captive portal's page does not have. */
const kOwnMark = '<meta name="application-name" content="Peruse"';

/** Returns an engine or model from the cache if it belongs to this version of the site. Waits for a file that is being stored. */
async function fromCache(address: string): Promise<Response | undefined> {
  const site = await known?.catch(() => undefined);
  if (site?.inUse.has(address) !== true) return undefined;
  const cache = await caches.open(kCache);
  await current.get(address)?.catch(() => {});
  if (current.has(address)) return cache.match(address);
  const version = await (await cache.match('./kept'))?.text();
  return version === site.version ? cache.match(address) : undefined;
}

/** Whether the site lacks this file of a model. Without a network the answer is then 404, because the library requests optional files, too. */
async function isMissing(address: string): Promise<boolean> {
  known ??= readKnown();
  const site = await known.catch(() => undefined);
  return site !== undefined && address.startsWith(addressInSite('models/')) && !site.all.has(address);
}

async function networkFirst(event: FetchEvent, request: Request, at: number): Promise<Response> {
  const cache = await caches.open(kCache);
  let end = () => {};
  const download = new Promise<void>((done) => {
    end = done;
  });
  const address = addressOf(new URL(request.url));
  giveWay(address, download);
  try {
    const response = await fetch(request);
    void tell(request.url, at, Number(response.headers.get('content-length') ?? 0));
    // Cancelled transfers and a full disk leave the cache unchanged.
    const copy = response.clone();
    event.waitUntil(
      isOurs(address, copy.clone())
        .then(async (is) => {
          if (!is) return;
          await cache.put(address, copy);
          current.set(address, Promise.resolve());
        })
        .catch(() => {})
        .finally(end),
    );
    return response;
  } catch (error) {
    end();
    const stored = await cache.match(address, { ignoreSearch: true });
    if (stored) return stored;
    if (await isMissing(address)) return new Response(null, { status: 404 });
    throw error;
  }
}

/** Answers with the file; if the site has it compressed (`<name>.gzip`), with that one, decompressed. */
async function answer(event: FetchEvent, at: number): Promise<Response> {
  const address = addressOf(new URL(event.request.url));
  const site = await known?.catch(() => undefined);
  if (site?.inUse.has(`${address}.gzip`) !== true) return (await fromCache(address)) ?? networkFirst(event, event.request, at);
  const packed = new Request(`${address}.gzip`, { signal: event.request.signal });
  const response = (await fromCache(packed.url)) ?? (await networkFirst(event, packed, at));
  return response.ok && response.body ? new Response(response.body.pipeThrough(new DecompressionStream('gzip'))) : response;
}

worker.addEventListener('install', (event) => {
  void worker.skipWaiting();
  event.waitUntil(storePage());
});
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('message', (event) => {
  if (event.data !== 'keep all') return;
  // If the connection or disk space is lost, the next visit continues.
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
    const response = answer(event, at);
    event.respondWith(decidesIsolation(event.request) ? response.then((one) => isolated(one, 'require-corp')) : response);
  } else {
    void tell(event.request.url, at, 0);
  }
});
