// The site contains the package's bundles in peruse/, next to the compiled page; this file gives TypeScript their types.
export * from '../../../web/dist/index.js';
