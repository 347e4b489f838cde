// Stores the site's files for use without a connection, by the service worker.
import { isolate } from '../peruse/peruse-isolate.js';
import type { Proof } from './proof.js';

const container = navigator.serviceWorker as ServiceWorkerContainer | undefined; // Undefined on plain http.
const kPatience = 1500;
const kScript = './offline.js';

/**
 * Resolves when the service worker sees all requests, including those for the first model, or when waiting for it takes too long. A browser
 * that refuses service workers also shows the page.
 */
export const isInControl: Promise<void> = register().catch(() => {});

async function register(): Promise<void> {
  if (!container) return;
  // Reloads the page once if the host does not isolate it. The address below is the one that isolate() registers.
  await isolate({ script: kScript });
  const isControlled = new Promise<void>((done) => container.addEventListener('controllerchange', () => done(), { once: true }));
  const registration = await container.register(`${kScript}?embedder=require-corp`);
  if (container.controller || !registration) return;
  await Promise.race([isControlled, new Promise((done) => setTimeout(done, kPatience))]);
}

const kAfterAnswer = 2000; // ms

/** Stores everything after the first answer, when the page is idle, unless the visitor wants to save data. */
export async function keepForOffline(said: HTMLElement, proof: Proof): Promise<void> {
  await Promise.all([isInControl, proof.firstAnswer]);
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (!container?.controller || connection?.saveData) return proof.dare();
  container.addEventListener('message', ({ data }) => {
    if (data !== 'all kept' && data !== 'not all kept') return;
    proof.dare();
    said.textContent = data === 'all kept' ? 'All of it is stored on this device now.' : 'Not all of it could be stored.';
  });
  await new Promise((done) => setTimeout(done, kAfterAnswer));
  await new Promise((done) => ('requestIdleCallback' in window ? requestIdleCallback(done) : setTimeout(done, 0)));
  container.controller.postMessage('keep all');
}
