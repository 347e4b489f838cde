// Entry of web/bundle/peruse-redact.js: peruse/redact, and the kit for peruse.js.
import { kRedactKit } from './redact/kit.js';

export * from './index_redact.js';
export const _internals = { kRedactKit };
