// Sees to it that the page works without a connection from now on.

interface NetworkInformation {
  saveData?: boolean;
}

/** Starts the service worker; once the page is at rest it also stores what was not used yet, unless the visitor saves data. */
export async function keepForOffline(said: HTMLElement): Promise<void> {
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (!container) return;  // Plain http: it simply does not.
  try {
    await container.register('./offline.js');
    const { active } = await container.ready;
    if ((navigator as { connection?: NetworkInformation }).connection?.saveData) return;
    container.addEventListener('message', ({ data }) => {
      if (data === 'all kept') said.textContent = 'All of it is stored now.';
    });
    await new Promise((done) => setTimeout(done, 3000));  // First things first.
    active?.postMessage('keep all');
  } catch {
    // A browser that refuses service workers shows the page all the same.
  }
}
