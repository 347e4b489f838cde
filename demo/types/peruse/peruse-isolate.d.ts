export * from '../../../web/dist/isolate.js';
