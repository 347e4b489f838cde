// Fork and join over pthreadpool. In a build without threads, pthreadpool is its one-thread stand-in.
#pragma once

#include <pthreadpool.h>

#include <cstdint>
#include <memory>

#include "core/base/status.h"

namespace peruse::xnnpack {

class ThreadPool {
 public:
  // `threads` counts the calling thread.
  static Result<ThreadPool> Create(int32_t threads) {
    if (threads < 1) return InvalidArgument("the number of threads must be at least 1");
    if (threads == 1) return ThreadPool(nullptr, 1);
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
    return Unsupported("this build has no threads");
#else
    const pthreadpool_t pool = pthreadpool_create(static_cast<size_t>(threads));
    if (pool == nullptr) return OutOfMemory("the thread pool could not be created");
    return ThreadPool(pool, threads);
#endif
  }

  int32_t threads() const { return threads_; }

  // Calls task(thread, index) for every index in [0, count), on any thread and in any order; thread < threads().
  template <typename Task>
  void For(int64_t count, const Task& task) const {
    if (threads_ == 1 || count <= 1) {
      for (int64_t i = 0; i < count; ++i) task(int32_t{0}, i);
      return;
    }
    pthreadpool_parallelize_1d_with_thread(
        pool_.get(),
        [](void* context, size_t thread, size_t index) {
          (*static_cast<const Task*>(context))(static_cast<int32_t>(thread), static_cast<int64_t>(index));
        },
        const_cast<Task*>(&task), static_cast<size_t>(count), /*flags=*/0);
  }

  // Puts the workers to sleep. They would spin for some milliseconds after a task, which is right between the
  // operations of a run and a waste after it.
  void Rest() const {
    if (threads_ == 1) return;
    pthreadpool_parallelize_1d(
        pool_.get(), [](void*, size_t) {}, nullptr, static_cast<size_t>(threads_), PTHREADPOOL_FLAG_YIELD_WORKERS);
  }

  // Splits [0, rows) into pieces of about equal size, each worth at least `least_rows`, and calls task(first, end).
  template <typename Task>
  void ForRows(int64_t rows, int64_t least_rows, const Task& task) const {
    if (rows <= 0) return;
    const int64_t wanted = threads_ == 1 ? 1 : 4 * int64_t{threads_};
    int64_t size = (rows + wanted - 1) / wanted;
    if (size < least_rows) size = least_rows;
    For((rows + size - 1) / size, [&](int32_t, int64_t piece) {
      const int64_t end = (piece + 1) * size;
      task(piece * size, end < rows ? end : rows);
    });
  }

 private:
  struct Destroy {
    void operator()(pthreadpool_t pool) const { pthreadpool_destroy(pool); }
  };

  ThreadPool(pthreadpool_t pool, int32_t threads) : pool_(pool), threads_(threads) {}

  std::unique_ptr<pthreadpool, Destroy> pool_;
  int32_t threads_;
};

}  // namespace peruse::xnnpack
