import { untilNothingLoads } from './loading.js';
import type { Proof } from './proof.js';

const container = navigator.serviceWorker as ServiceWorkerContainer | undefined; // Undefined on plain http.
const kPatience = 5000; // ms

/** Registers the service worker, and waits up to kPatience until it sees the page's requests. */
async function register(): Promise<void> {
  if (!container) return;
  const isControlled = new Promise<void>((done) => container.addEventListener('controllerchange', () => done(), { once: true }));
  const registration = await container.register('./offline.js');
  if (container.controller || !registration) return;
  await Promise.race([isControlled, new Promise((done) => setTimeout(done, kPatience))]);
}

const kAfterAnswer = 1000; // ms

/**
 * Registers the service worker, but only after the first answer, whose downloads need the whole connection. When the page is idle, stores
 * everything, unless the visitor wants to save data. `said` reports the result.
 */
export async function keepForOffline(said: HTMLElement, proof: Proof): Promise<void> {
  await proof.firstAnswer;
  await register().catch(() => {});
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (!container?.controller || connection?.saveData) return proof.dare();
  container.addEventListener('message', ({ data }) => {
    if (data !== 'all kept' && data !== 'not all kept') return;
    proof.dare();
    said.textContent = data === 'all kept' ? 'All of it is stored on this device now.' : 'Not all of it could be stored.';
  });
  await new Promise((done) => setTimeout(done, kAfterAnswer));
  await untilNothingLoads();
  await new Promise((done) => ('requestIdleCallback' in window ? requestIdleCallback(done) : setTimeout(done, 0)));
  container.controller.postMessage('keep all');
}
