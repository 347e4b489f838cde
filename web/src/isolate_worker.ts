// The service worker of peruse/isolate: adds the headers of isolation to responses for pages and workers. It stores nothing.

interface FetchEvent extends Event {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
declare const self: {
  addEventListener(type: 'install' | 'activate' | 'message', listener: (event: { waitUntil(done: Promise<unknown>): void }) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  location: { href: string };
};

// Accepts known values only: an invalid header would make every page of the site fail.
const kEmbedder = new URL(self.location.href).searchParams.get('embedder') === 'credentialless' ? 'credentialless' : 'require-corp';
const kNeedHeaders = ['document', 'iframe', 'frame', 'worker', 'sharedworker'];

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (kNeedHeaders.includes(event.request.destination)) event.respondWith(withHeaders(event.request));
});

async function withHeaders(request: Request): Promise<Response> {
  const response = await fetch(request);
  if (response.status === 0 || response.type === 'opaqueredirect') return response; // opaque responses cannot be changed
  try {
    return isolated(response);
  } catch {
    return response;
  }
}

function isolated(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Embedder-Policy', kEmbedder);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Resource-Policy', 'same-origin');
  const { status, statusText } = response;
  return new Response([204, 205, 304].includes(status) ? null : response.body, { status, statusText, headers });
}

export {};
