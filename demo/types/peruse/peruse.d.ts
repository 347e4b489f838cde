// The site has the package's bundles in peruse/, next to the compiled page; their types are in the package.
export * from '../../../web/dist/index.js';
