#include "core/base/memory.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

namespace peruse {
namespace {

std::atomic<void*> reserve = nullptr;
std::atomic<bool> has_failed = false;  // since the last HoldReserve

// operator new calls this handler when memory runs out, then retries. The second call finds the reserve released and removes the handler,
// so that operator new fails.
void GiveReserveUp() {
  has_failed = true;
  if (void* const block = reserve.exchange(nullptr))
    std::free(block);
  else
    std::set_new_handler(nullptr);
}

bool CanAllocate(size_t bytes) {
  if (bytes >= SIZE_MAX / 2) return false;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  // The address sanitizer marks every byte of a block, which would dominate a fuzzer's time, so only blocks above 64 MB are tried.
  if (bytes <= size_t{64} << 20) return true;
#endif
  // Without volatile a compiler may remove malloc and free, and assume success.
  void* volatile block = std::malloc(bytes);
  const bool can = block != nullptr;
  std::free(block);
  return can;
}

}  // namespace

Status HoldReserve() {
  if (reserve.load(std::memory_order_relaxed) != nullptr) {
    has_failed = false;
    return OkStatus();
  }
  void* block = std::malloc(kReserveBytes);
  if (block == nullptr) {
    has_failed = true;
    return OutOfMemory("no memory");
  }
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, block)) std::free(block);  // another thread stored its block first
  std::set_new_handler(GiveReserveUp);
  has_failed = false;
  return OkStatus();
}

bool HasMemory(size_t bytes) {
  if (has_failed.load(std::memory_order_relaxed)) return false;
  if (bytes == 0 || CanAllocate(bytes)) return true;
  has_failed = true;
  return false;
}

Status EnsureMemory(size_t bytes, std::string_view what) {
  if (HasMemory(bytes)) return OkStatus();
  return OutOfMemory("no memory for " + std::string(what) + ", which may take " + std::to_string(bytes >> 20) + " MB");
}

Result<std::string> CopyText(std::string_view text) {
  std::string copy;
  if (!TryAppend(&copy, text)) return OutOfMemory("no memory for a text of " + std::to_string(text.size()) + " bytes");
  return copy;
}

}  // namespace peruse
