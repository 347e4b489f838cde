export * from '../../../web/dist/teach/index.js';
