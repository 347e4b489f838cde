// As peruse.d.ts, for isolation.
export * from '../../../web/dist/isolate.js';
