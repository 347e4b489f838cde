// The site holds the package's bundles in peruse/, beside the compiled page; their types lie with the package.
export * from '../../../web/dist/index.js';
