// A library for Emscripten's linker (--js-library), thread variants only. Where a helper's script lies is known to the one who
// loads the engine (web/src/engine/helpers.ts), not to the glue: bundlers give files other names.
LibraryManager.library.$PThread.allocateUnusedWorker = () => {
  PThread.unusedWorkers.push(Module['startHelper']());
};

// Emscripten would have the calling thread wait for its mailbox by Atomics.waitAsync, without end: the wait keeps the module and its memory
// (7 MB each) after the helpers are gone. Without it the mailbox is told by a message, which Emscripten does where there is no waitAsync.
LibraryManager.library._emscripten_thread_mailbox_await = (pthread_ptr) => {
  void pthread_ptr;
};
