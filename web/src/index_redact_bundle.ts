// Entry of web/bundle/peruse-redact.js: peruse/redact, and the patterns for peruse.js.
import { findDetails } from './redact/patterns.js';

export * from './index_redact.js';
export const _internals = { findDetails };
