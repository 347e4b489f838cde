// Handles out-of-memory without exceptions. The core is built without them, so a failing operator new would end the program; running out of
// memory on a large text or file must be an ordinary error instead. Two rules ensure that:
//
// 1. Containers that grow with input first reserve their exact size with TryReserve, TryResize, TryPushBack or TryAppend, which
//    leave the container unchanged and return false if memory runs out.
// 2. All other code (objects, nodes, short strings) may allocate plainly, if every iteration of a loop over input calls a Try*
//    function or HasMemory(). A reserve is held back for plain allocations and released when one fails.
//
// After any allocation failure every later Try* call fails too, so the current call returns kOutOfMemory quickly. HoldReserve() restores
// the reserve at the start of the next call. tests/native/memory makes every single allocation fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// The reserve for plain allocations, far more than any code allocates between two checks.
constexpr size_t kReserveBytes = size_t{64} << 10;

// Restores the reserve and clears earlier failures. Every entry point that allocates calls this first.
Status HoldReserve();

// Returns whether no allocation has failed and `bytes` bytes are available now. Allocates nothing permanently.
bool HasMemory(size_t bytes = 0);

// HasMemory as a Status, which names what the bytes are for.
Status EnsureMemory(size_t bytes, std::string_view what);

// a + b and a * b, or SIZE_MAX on overflow, which no allocation satisfies.
constexpr size_t SaturatingAdd(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
constexpr size_t SaturatingMultiply(size_t a, size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// The functions below take a std::vector or a std::string. `count` is the total number of elements.
template <typename Container>
[[nodiscard]] bool TryReserve(Container* values, size_t count) {
  if (count <= values->capacity()) return HasMemory();
  constexpr size_t kString = 32;  // std::string adds a NUL and may round its capacity up
  if (!HasMemory(SaturatingAdd(SaturatingMultiply(count, sizeof(typename Container::value_type)), kString)))
    return false;
  values->reserve(count);
  return true;
}

// Reserves `more` additional elements. At least doubles the capacity, so that repeated growth takes linear time.
template <typename Container>
[[nodiscard]] bool TryGrow(Container* values, size_t more) {
  if (more <= values->capacity() - values->size()) return true;
  const size_t least = SaturatingAdd(values->size(), more), doubled = SaturatingMultiply(values->capacity(), 2);
  return TryReserve(values, least > doubled ? least : doubled);
}

template <typename Container>
[[nodiscard]] bool TryResize(Container* values, size_t count) {
  if (!TryReserve(values, count)) return false;
  values->resize(count);
  return true;
}

template <typename T>
[[nodiscard]] bool TryPushBack(std::vector<T>* values, T value) {
  if (values->size() == values->capacity() && !TryGrow(values, 8)) return false;
  values->push_back(std::move(value));
  return true;
}

[[nodiscard]] inline bool TryAppend(std::string* text, std::string_view more) {
  if (!TryGrow(text, more.size())) return false;
  text->append(more);
  return true;
}

[[nodiscard]] inline bool TryAssign(std::string* text, std::string_view from) {
  text->clear();
  return TryAppend(text, from);
}

Result<std::string> CopyText(std::string_view text);

}  // namespace peruse
