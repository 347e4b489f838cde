// Requests the model of the tab in the address while the page's script is still loading. Bundled as a small script of its own.
import { addressOf, kFirstModels } from './bundled.js';
import { request } from './early_files.js';
import { panelInAddress } from './link.js';

const model = kFirstModels[panelInAddress() || 'redact'];
if (model) globalThis.peruseFirstModel = request(addressOf(model));
