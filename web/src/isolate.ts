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
  /** Address of `peruse-isolate-worker.js` on the page's own origin. Default: in the page's folder. */
  script?: string | URL;
  /**
   * 'require-corp', the default, works in every browser; what the page takes from other origins must then allow it (CORS or
   * Cross-Origin-Resource-Policy). 'credentialless' asks other origins without cookies instead; Safari does not know it.
   */
  embedder?: 'require-corp' | 'credentialless';
}

const kTried = 'peruse-isolate';
const kEmbedders: readonly unknown[] = ['require-corp', 'credentialless'];
/** How long a service worker may take to become active and to take the page over, in milliseconds. */
const kPatience = 5000;

/**
 * Call it before anything else. On the first visit the page is loaded once more, and the promise never settles; from then on it is
 * isolated from its start. Resolves with `isolated: false` and the reason where that can't be: pipelines then run on one thread.
 * It never rejects.
 */
export async function isolate({ script = 'peruse-isolate-worker.js', embedder = 'require-corp' }: IsolateOptions = {}): Promise<Isolation> {
  try {
    if (globalThis.crossOriginIsolated) {
      forgetTry();
      return { isolated: true };
    }
    if (!kEmbedders.includes(embedder))
      throw new Error(`embedder must be 'require-corp' or 'credentialless', not ${JSON.stringify(embedder)}`);
    const reason = whyNot() ?? (await takeOver(script, embedder));
    if (reason !== undefined) return { isolated: false, reason };
  } catch (error) {
    return { isolated: false, reason: `The page can't be isolated: ${error instanceof Error ? error.message : String(error)}` };
  }
  location.reload();
  return new Promise(() => {});
}

/** Where storage is forbidden nothing was noted. */
function forgetTry(): void {
  try {
    sessionStorage.removeItem(kTried);
  } catch {}
}

function whyNot(): string | undefined {
  if (!globalThis.isSecureContext) return 'Service workers exist on secure pages only.';
  if (!('serviceWorker' in navigator)) return 'There are no service workers here.';
  if (sessionStorage.getItem(kTried) === null) return undefined;
  sessionStorage.removeItem(kTried);
  return 'The page was loaded again by way of the service worker, and is not isolated all the same.';
}

/** Makes the page's requests go by way of the service worker. Returns why they can't. */
async function takeOver(script: string | URL, embedder: string): Promise<string | undefined> {
  const url = new URL(script, document.baseURI);
  url.searchParams.set('embedder', embedder);
  const registration = await register(url);
  if (!location.href.startsWith(registration.scope)) {
    return `The service worker ${url.href} covers ${registration.scope} and not this page: serve it from the page's folder or from one above.`;
  }
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`The service worker ${url.href} did not become active within ${kPatience / 1000} s.`), kPatience);
  });
  const reason = await Promise.race([controlled(registration), late]);
  clearTimeout(timer);
  if (reason === undefined) sessionStorage.setItem(kTried, 'once');
  return reason;
}

async function register(url: URL): Promise<ServiceWorkerRegistration> {
  try {
    return await navigator.serviceWorker.register(url);
  } catch (error) {
    throw new Error(
      `The service worker ${url.href} can't be used (${String(error)}). Copy web/bundle/peruse-isolate-worker.js to the page's own origin, beside the page or in a folder above it, or name its address with script.`,
      { cause: error },
    );
  }
}

async function controlled(registration: ServiceWorkerRegistration): Promise<undefined> {
  if (navigator.serviceWorker.controller !== null) return;
  const changed = new Promise<void>((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(), { once: true });
  });
  const { active } = await navigator.serviceWorker.ready;
  (registration.active ?? active)?.postMessage('claim');
  if (navigator.serviceWorker.controller === null) await changed;
}
