// peruse/isolate: makes a page cross-origin isolated, which threads need, where its host can't send the two headers. A service
// worker, which the page's own origin must serve (web/bundle/peruse-isolate-worker.js), adds them.

/** What became of the wish. */
export interface Isolation {
  isolated: boolean;
  /** Why not. */
  reason?: string;
}

/** Where the service worker's file lies, and what it covers. */
export interface IsolateOptions {
  /** Address of `peruse-isolate-worker.js` on the page's own origin. Default: beside the page. */
  script?: string | URL;
  /**
   * 'require-corp', the default, works in every browser; what the page takes from other origins must then allow it (CORS or
   * Cross-Origin-Resource-Policy). 'credentialless' asks other origins without cookies instead; Safari does not know it.
   */
  embedder?: 'require-corp' | 'credentialless';
}

const kTried = 'peruse-isolate';

/**
 * Call it before anything else. On the first visit the page is loaded once more, and the promise never settles; from then on it is
 * isolated from its start. Resolves with `isolated: false` where that can't be: pipelines then run on one thread.
 */
export async function isolate({ script = 'peruse-isolate-worker.js', embedder = 'require-corp' }: IsolateOptions = {}): Promise<Isolation> {
  if (globalThis.crossOriginIsolated) {
    sessionStorage.removeItem(kTried);
    return { isolated: true };
  }
  const reason = whyNot();
  if (reason !== undefined) return { isolated: false, reason };
  const url = new URL(script, document.baseURI);
  url.searchParams.set('embedder', embedder);
  try {
    await navigator.serviceWorker.register(url);
    await controlled(await navigator.serviceWorker.ready);
  } catch (error) {
    return { isolated: false, reason: `The service worker ${url.href} can't be used: ${String(error)}` };
  }
  sessionStorage.setItem(kTried, 'once');
  location.reload();
  return new Promise(() => {});
}

function whyNot(): string | undefined {
  if (!globalThis.isSecureContext) return 'Service workers exist on secure pages only.';
  if (!('serviceWorker' in navigator)) return 'There are no service workers here.';
  if (sessionStorage.getItem(kTried) === null) return undefined;
  sessionStorage.removeItem(kTried);
  return 'The page was loaded again by way of the service worker, and is not isolated all the same.';
}

/** Until this page's requests go by way of the service worker. */
async function controlled(registration: ServiceWorkerRegistration): Promise<void> {
  if (navigator.serviceWorker.controller !== null) return;
  await new Promise<void>((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
    registration.active?.postMessage('claim');
  });
}
