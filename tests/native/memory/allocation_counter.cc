#include "tests/native/memory/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PERUSE_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PERUSE_SANITIZER
#endif
#endif

namespace {

std::atomic<int64_t> allocations = 0;

}  // namespace

#ifdef PERUSE_SANITIZER

// The sanitizer counts allocations; its own operator new stays, because it finds more errors.
#include <sanitizer/allocator_interface.h>

int64_t peruse::testing::Allocations() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t) { ++allocations; }, [](const volatile void*) {});
  return installed > 0 ? allocations.load() : -1;
}

#else

int64_t peruse::testing::Allocations() { return allocations; }

// Arrays use these, too.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
void* operator new(size_t size) {
  void* p;
  while ((p = operator new(size, std::nothrow)) == nullptr) {
    const std::new_handler give_up = std::get_new_handler();
    if (give_up == nullptr) std::abort();
    give_up();
  }
  return p;
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  ++allocations;
  const size_t step = static_cast<size_t>(alignment);
  return std::aligned_alloc(step, (size + step - 1) / step * step);
}
void* operator new(size_t size, std::align_val_t alignment) {
  void* const p = operator new(size, alignment, std::nothrow);
  if (p == nullptr) std::abort();
  return p;
}
void* operator new[](size_t size, const std::nothrow_t& tag) noexcept { return operator new(size, tag); }
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t& tag) noexcept {
  return operator new(size, alignment, tag);
}

void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

#endif
