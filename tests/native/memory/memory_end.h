// Makes the n-th allocation fail. Only in WebAssembly, where a program can replace malloc.
#pragma once

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

#include <cstddef>
#include <cstdint>

namespace peruse::testing {

// During its lifetime `count` more allocations succeed; afterwards only freed memory can be allocated. An allocation that fits the block
// freed just before does not count, because it cannot fail, and HasMemory relies on that. With `once` only one allocation fails.
class MemoryEnd {
 public:
  explicit MemoryEnd(size_t count, bool once = false);
  ~MemoryEnd();
  MemoryEnd(const MemoryEnd&) = delete;
  MemoryEnd& operator=(const MemoryEnd&) = delete;

  static bool was_reached();
  // Removes the limit, restores the reserve (core/base/memory.h), and returns the bytes allocated since the start and not freed.
  static int64_t LeftBehind();
};

// Calls `work(is_last)` repeatedly, each time with one more successful allocation, until all succeed; then once more with is_last. Returns
// the number of allocations that failed first.
template <typename Work>
size_t LetEveryAllocationFail(const Work& work, bool once = false) {
  for (size_t count = 0;; ++count) {
    bool reached;
    {
      const MemoryEnd end(count, once);
      work(false);
      reached = MemoryEnd::was_reached();
    }
    if (reached) continue;
    work(true);
    return count;
  }
}

}  // namespace peruse::testing

#endif
