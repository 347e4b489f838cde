// A library for Emscripten's linker (--js-library), thread variants only. Emscripten 3.1.69 hands `new Worker` its options in a
// variable; Vite reads them from the source text and refuses what isn't a literal. The rest is as in library_pthread.js.
LibraryManager.library.$PThread.allocateUnusedWorker = () => {
  // 'em-pthread' tells the module that it runs in a helper: by name in browsers, by workerData in Node.
  PThread.unusedWorkers.push(new Worker(new URL('{{{ TARGET_JS_NAME }}}', import.meta.url), {
    type: 'module',
    name: 'em-pthread-{{{ TARGET_JS_NAME }}}',  // Bundlers take it for the name of a file: one for each module.
    workerData: 'em-pthread',
    execArgv: [],  // Node: not the program's own flags, of which some (--input-type) are wrong for a file.
  }));
};
