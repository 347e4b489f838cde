// Sees to it that what was fetched once works without a connection, and everything else if the visitor wants it.
import { bytes } from './format.js';

const container = navigator.serviceWorker as ServiceWorkerContainer | undefined; // Not there on plain http.
const kPatience = 1500; // ms

/**
 * Over when the service worker sees all requests, those of the first model included, or will not in time. A browser that refuses
 * service workers still shows the page.
 */
export const isInControl: Promise<void> = register().catch(() => {});

async function register(): Promise<void> {
  if (!container) return;
  const isControlled = new Promise<void>((done) => container.addEventListener('controllerchange', () => done(), { once: true }));
  const registration = await container.register('./offline.js');
  if (container.controller || !registration) return;
  await Promise.race([isControlled, new Promise((done) => setTimeout(done, kPatience))]);
}

/** The button that fetches what was not used yet. */
export async function offerToKeepAll(button: HTMLButtonElement, said: HTMLElement): Promise<void> {
  button.hidden = true;
  await isInControl;
  if (!container?.controller) return;
  const { bytesInUse } = (await (await fetch('./files.json')).json()) as { bytesInUse: number };
  button.textContent = `Keep everything for offline use (${bytes(bytesInUse)})`;
  button.hidden = false;
  container.addEventListener('message', ({ data }) => {
    if (data === 'all kept') said.textContent = 'All of it is stored now.';
    if (data === 'not all kept') said.textContent = 'Not all of it could be stored.';
  });
  button.addEventListener('click', () => {
    said.textContent = 'Storing\u2026';
    container.controller?.postMessage('keep all');
  });
}
