// peruse/isolate: makes a page cross-origin isolated, which threads require, if its host cannot send the two headers. A service worker
// of the page's own origin (web/bundle/peruse-isolate-worker.js) adds them.

/** The result of isolate(). */
export interface Isolation {
  isolated: boolean;
  /**
   * The headers that isolate the page: one (Document-Isolation-Policy) or two (Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy, from
   * the host or the service worker). Undefined if the page is not isolated, or if its headers cannot be read.
   */
  by?: 'document-isolation-policy' | 'opener-and-embedder-policy';
  /** The reason if the page is not isolated. */
  reason?: string;
}

/** Options of isolate(). */
export interface IsolateOptions {
  /** URL of `peruse-isolate-worker.js` on the page's own origin. Default: in the page's folder. */
  script?: string | URL;
  /**
   * The value of Cross-Origin-Embedder-Policy. 'require-corp', the default, works in every browser, but resources of other origins must allow
   * it (by CORS or Cross-Origin-Resource-Policy). 'credentialless' requests them without cookies; Safari does not support it.
   */
  embedder?: 'require-corp' | 'credentialless';
}

const kTried = 'peruse-isolate';
const kEmbedders: readonly unknown[] = ['require-corp', 'credentialless'];
/** Maximum time in milliseconds for a service worker to activate and take control of the page. */
const kPatience = 5000;

/**
 * Call it before anything else. On the first visit it reloads the page, and the promise never settles; afterwards the page is isolated from
 * its start. If that is impossible, resolves with `isolated: false` and the reason, and pipelines run on one thread. Never rejects.
 */
export async function isolate(options: IsolateOptions = {}): Promise<Isolation> {
  try {
    const { script = 'peruse-isolate-worker.js', embedder = 'require-corp' } = options;
    if (globalThis.crossOriginIsolated) {
      forgetTry();
      const by = await isolator();
      return by === undefined ? { isolated: true } : { isolated: true, by };
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

function forgetTry(): void {
  try {
    sessionStorage.removeItem(kTried);
  } catch {}
}

/** Reads the headers of the page, from the browser's cache if they are there. */
async function isolator(): Promise<Isolation['by']> {
  const response = await fetch(location.href, { method: 'HEAD', cache: 'force-cache' }).catch(() => undefined);
  if (response === undefined) return undefined;
  const two = ['Cross-Origin-Opener-Policy', 'Cross-Origin-Embedder-Policy'];
  if (two.every((name) => response.headers.has(name))) return 'opener-and-embedder-policy';
  return response.headers.has('Document-Isolation-Policy') ? 'document-isolation-policy' : undefined;
}

function whyNot(): string | undefined {
  if (!globalThis.isSecureContext) return 'Service workers exist on secure pages only.';
  if (!('serviceWorker' in navigator)) return 'This browser or page does not support service workers.';
  if (sessionStorage.getItem(kTried) === null) return undefined;
  sessionStorage.removeItem(kTried);
  return 'The page was reloaded through the service worker, but is still not isolated.';
}

/** Lets the service worker handle the page's requests. Returns the reason if that fails. */
async function takeOver(script: string | URL, embedder: string): Promise<string | undefined> {
  const url = new URL(script, document.baseURI);
  url.searchParams.set('embedder', embedder);
  const registration = await register(url);
  if (!location.href.startsWith(registration.scope)) {
    return `The service worker ${url.href} covers ${registration.scope} and not this page. Serve it from the page's folder or from a folder above it.`;
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
      `The service worker ${url.href} can't be used (${String(error)}). Copy web/bundle/peruse-isolate-worker.js to the page's own origin, next to the page or in a folder above it, or name its address with script.`,
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
