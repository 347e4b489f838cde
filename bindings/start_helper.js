// A library for Emscripten's linker (--js-library), for builds with threads. The engine's loader (web/src/engine/helpers.ts) provides the
// URL of the helper script, because bundlers rename files.
LibraryManager.library.$PThread.allocateUnusedWorker = () => {
  PThread.unusedWorkers.push(Module['startHelper']());
};

// Emscripten would wait for its mailbox with Atomics.waitAsync forever, which keeps the module and its memory (7 MB each) after the helpers
// have ended. Without it, Emscripten notifies the mailbox by a message, as in engines that lack waitAsync.
LibraryManager.library._emscripten_thread_mailbox_await = (pthread_ptr) => {
  void pthread_ptr;
};
