// The service worker of peruse/isolate: adds the headers of isolation to responses for pages and workers. It stores nothing.
import { decidesIsolation, isolated } from './isolated_response.js';

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

// Only accepts known values, because an invalid header would make every page of the site fail.
const kEmbedder = new URL(self.location.href).searchParams.get('embedder') === 'credentialless' ? 'credentialless' : 'require-corp';

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  if (decidesIsolation(event.request)) event.respondWith(withHeaders(event.request));
});

async function withHeaders(request: Request): Promise<Response> {
  return isolated(await fetch(request), kEmbedder);
}
