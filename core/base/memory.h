// Memory that may run out. The core is built without exceptions, where an operator new that fails ends the program; yet a text
// or a file for which there is no memory must be an error like any other. Two rules see to that.
//
//  1. What grows with input asks first, for exactly what it takes: TryReserve, TryResize, TryPushBack, TryAppend and what is
//     built on them. They leave a container as it was, and answer false, when there is no memory.
//  2. All else (objects, nodes, short strings, messages) may simply be allocated, as long as there is a question of the first
//     kind, or HasMemory(), at every turn of a loop over input. A reserve is held back for that. When a plain allocation fails,
//     the reserve is given up for it.
//
// After a failure of either kind every question is answered with no, so that the work soon ends, with kOutOfMemory. That holds
// until HoldReserve(), with which work begins, has the reserve (again).
// So a failure sticks, no constructor can end the program, and nobody counts bytes. The tests let every single allocation fail
// (tests/native/memory/memory_end.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// What is held back for plain allocations: far more than any code takes between two questions.
constexpr size_t kReserveBytes = size_t{64} << 10;

// Takes the reserve, unless it is held, and forgets earlier failures. Every entry point that allocates calls this first, or EnsureMemory. kOutOfMemory.
Status HoldReserve();

// Whether nothing has failed and one block of `bytes` bytes could be had now. Nothing stays allocated.
bool HasMemory(size_t bytes = 0);

// HoldReserve and HasMemory; `what` the memory is for goes into the message.
Status EnsureMemory(size_t bytes, std::string_view what);

// a + b and a * b, or SIZE_MAX, which no memory has.
constexpr size_t SaturatingAdd(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
constexpr size_t SaturatingMultiply(size_t a, size_t b) { return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// The following take a std::vector or a std::string. `count` elements in all:
template <typename Container>
[[nodiscard]] bool TryReserve(Container* values, size_t count) {
  if (count <= values->capacity()) return HasMemory();
  constexpr size_t kString = 32;  // a string ends with NUL, and its library rounds up
  if (!HasMemory(SaturatingAdd(SaturatingMultiply(count, sizeof(typename Container::value_type)), kString)))
    return false;
  values->reserve(count);
  return true;
}

// Room for `more` elements: at least twice as many as before, so that growing step by step takes time in proportion.
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

// Makes `text` a copy of `from`.
[[nodiscard]] inline bool TryAssign(std::string* text, std::string_view from) {
  text->clear();
  return TryAppend(text, from);
}

Result<std::string> CopyText(std::string_view text);

}  // namespace peruse
