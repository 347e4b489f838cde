// Is there memory? The core is built without exceptions, where a failing operator new ends the program. So whatever takes
// memory in proportion to its input asks here first, with a bound on what it will take, and refuses the input otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// Bytes that are always asked for on top, for everything small that a call allocates besides.
constexpr size_t kMemorySlack = size_t{16} << 10;

// a + b and a * b, or SIZE_MAX, which no memory has.
constexpr size_t SaturatingAdd(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
constexpr size_t SaturatingMultiply(size_t a, size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// Whether one block of `bytes` bytes, and the slack, could be had now. Nothing stays allocated.
bool HasMemory(size_t bytes);

// Appends to a vector whose growth is not bounded beforehand; false, and nothing appended, when there is no memory.
template <typename T>
[[nodiscard]] bool TryPushBack(std::vector<T>* values, const T& value) {
  if (values->size() == values->capacity()) {
    const size_t capacity = values->capacity() < 16 ? 16 : values->capacity() * 2;
    if (!HasMemory(SaturatingMultiply(capacity, sizeof(T)))) return false;
    values->reserve(capacity);
  }
  values->push_back(value);
  return true;
}

// kOutOfMemory when there is no such block; `what` it is for goes into the message.
Status EnsureMemory(size_t bytes, std::string_view what);

}  // namespace peruse
