#include "tests/native/memory/memory_end.h"

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

#include <emscripten/heap.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/memory.h"

namespace {

bool is_active = false, is_once = false, was_reached = false;
size_t left = 0;
int64_t live = 0;       // bytes allocated since the start and not freed
int64_t most = 0;       // maximum of `live` after the limit is reached
size_t just_freed = 0;  // size of the block that was freed since the last allocation

bool MayAllocate(size_t size) {
  if (!is_active) return true;
  const bool has_room = size <= just_freed;
  just_freed = 0;
  if (!was_reached && !has_room && left == 0) {
    was_reached = true;
    most = live;
  }
  if (was_reached && live + static_cast<int64_t>(size) > most) {
    is_active = !is_once;
    return false;
  }
  if (!was_reached && !has_room) --left;
  return true;
}

void* Counted(void* block) {
  if (block != nullptr) live += static_cast<int64_t>(malloc_usable_size(block));
  return block;
}

}  // namespace

extern "C" {

void* malloc(size_t size) {
  if (!MayAllocate(size)) return nullptr;
  return Counted(emscripten_builtin_malloc(size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  if (!MayAllocate(size)) return nullptr;
  return Counted(emscripten_builtin_memalign(alignment, size));
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = aligned_alloc(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  if (block == nullptr) return;
  just_freed = malloc_usable_size(block);
  live -= static_cast<int64_t>(just_freed);
  emscripten_builtin_free(block);
}

void* calloc(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) return nullptr;
  void* const block = malloc(count * size);
  if (block != nullptr) std::memset(block, 0, count * size);
  return block;
}

void* realloc(void* old, size_t size) {
  if (old == nullptr) return malloc(size);
  void* const block = malloc(size);
  if (block == nullptr) return nullptr;
  const size_t had = malloc_usable_size(old);
  std::memcpy(block, old, had < size ? had : size);
  free(old);
  return block;
}

}  // extern "C"

namespace peruse::testing {

MemoryEnd::MemoryEnd(size_t count, bool once) {
  left = count;
  is_once = once;
  live = most = 0;
  just_freed = 0;
  ::was_reached = false;
  is_active = true;
}

MemoryEnd::~MemoryEnd() { is_active = false; }

int64_t MemoryEnd::LeftBehind() {
  is_active = false;
  return HoldReserve().ok() ? live : -1;
}

bool MemoryEnd::was_reached() { return ::was_reached; }

}  // namespace peruse::testing

#endif
