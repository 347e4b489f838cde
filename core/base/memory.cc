#include "core/base/memory.h"

#include <cstdlib>
#include <string>

namespace peruse {

bool HasMemory(size_t bytes) {
  if (bytes > SIZE_MAX / 2 - kMemorySlack) return false;
  // Volatile, or a compiler may drop the pair and take the answer to be yes.
  void* volatile block = std::malloc(bytes + kMemorySlack);
  const bool has = block != nullptr;
  std::free(block);
  return has;
}

Status EnsureMemory(size_t bytes, std::string_view what) {
  if (HasMemory(bytes)) return OkStatus();
  return OutOfMemory("no memory for " + std::string(what) + ", which may take " + std::to_string(bytes >> 20) + " MB");
}

}  // namespace peruse
