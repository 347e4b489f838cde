// Fork-join over a few threads, for shared machines: indices are handed out one by one, and a helper thread joins only when it actually
// runs. The caller waits for helpers in the middle of a task, never for one that is not scheduled. Helpers spin for 0.1 to 0.2 ms for the
// next operation, then sleep.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/status.h"

namespace peruse::cpu {

class ThreadPool {
 public:
  // `threads` includes the calling thread.
  static Result<ThreadPool> Create(int32_t threads);
  ThreadPool(ThreadPool&&) noexcept;
  ~ThreadPool();

  int32_t threads() const { return threads_; }

  // Calls task(thread, index) for every index in [0, count), in any thread and any order; thread < threads().
  template <typename Task>
  void For(int64_t count, const Task& task) const {
    if (threads_ == 1 || count <= 1) {
      for (int64_t i = 0; i < count; ++i) task(int32_t{0}, i);
      return;
    }
    Run(
        count,
        [](const void* context, int32_t thread, int64_t index) { (*static_cast<const Task*>(context))(thread, index); },
        &task);
  }

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
  using Call = void (*)(const void* context, int32_t thread, int64_t index);
  class Helpers;

  ThreadPool(std::unique_ptr<Helpers> helpers, int32_t threads);
  void Run(int64_t count, Call call, const void* context) const;

  std::unique_ptr<Helpers> helpers_;  // null if there is only one thread
  int32_t threads_;
};

}  // namespace peruse::cpu
