// As peruse.d.ts, for the bundle that teaches.
export * from '../../../web/dist/teach/index.js';
