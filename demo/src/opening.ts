// Requests the model of the opening tab while the page's script is still loading. Bundled as a small script of its own.
import { addressOf, kFirstModels, request } from './bundled.js';
import { panelInAddress } from './link.js';

const model = kFirstModels[panelInAddress() || 'redact'];
if (model) {
  const folder = addressOf(model);
  globalThis.peruseOpening = { folder, requested: request(folder) };
}
