// Requests the model of the tab in the address while the page's script is still loading. If a tab is tapped meanwhile, puts it into the
// address, from which the page's script opens it, and requests its model instead. Bundled as a small script of its own.
import { addressOf, kFirstModels } from './bundled.js';
import { request } from './early_files.js';
import { panelInAddress } from './link.js';

function requestModel(): void {
  globalThis.peruseFirstModel?.abort();
  const model = kFirstModels[panelInAddress() || 'redact'];
  globalThis.peruseFirstModel = model && request(addressOf(model));
}

if (!globalThis.peruseHasStarted) {
  requestModel();
  addEventListener('click', ({ target }) => {
    const tapped = target instanceof Element && target.closest('[role=tab]')?.getAttribute('aria-controls');
    if (!tapped || globalThis.peruseHasStarted) return;
    history.replaceState(null, '', `#${tapped}`);
    requestModel();
  });
}
