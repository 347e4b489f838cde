// Lets the heap end at the n-th allocation, for tests of what happens then. In WebAssembly only, where a program may put its
// own malloc in place of the library's.
#pragma once

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

#include <cstddef>
#include <cstdint>

namespace peruse::testing {

// While it lives, `count` more allocations succeed; from the next one on the heap has no more than it has then: only what is
// freed can be had again. An allocation that fits into the block that was freed just before does not count: it cannot fail, and
// HasMemory relies on that. `once`: that one allocation fails and no other.
class MemoryEnd {
 public:
  explicit MemoryEnd(size_t count, bool once = false);
  ~MemoryEnd();
  MemoryEnd(const MemoryEnd&) = delete;
  MemoryEnd& operator=(const MemoryEnd&) = delete;

  // Whether an allocation failed.
  static bool was_reached();
  // Lifts the limit, takes the reserve (core/base/memory.h), and gives the bytes that were allocated since the start and not freed.
  static int64_t LeftBehind();
};

// Calls `work(is_last)` again and again, with the heap ending one allocation later each time, until no allocation fails; then,
// once more, with is_last true. Gives the number of allocations that failed first.
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
