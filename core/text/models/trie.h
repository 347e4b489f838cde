// Maps byte strings to non-negative numbers. A double array; each byte takes one array access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace peruse::text {

class Trie {
 public:
  static constexpr int32_t kRoot = 0;
  static constexpr int32_t kNone = -1;

  Trie() = default;  // an empty trie; does not allocate
  Trie(Trie&&) = default;
  Trie& operator=(Trie&&) = default;
  // Keys may be in any order. If keys are equal, the last one counts. The views are only used during the call. Errors: kOutOfMemory.
  static Result<Trie> Create(const std::vector<std::pair<std::string_view, int32_t>>& entries);

  int32_t Next(int32_t state, char byte) const {
    const size_t next = static_cast<size_t>(first_[static_cast<size_t>(state)].base) + static_cast<unsigned char>(byte);
    return first_[next].parent == state ? static_cast<int32_t>(next) : kNone;
  }
  int32_t Walk(int32_t state, std::string_view text) const {
    for (const char byte : text) {
      state = Next(state, byte);
      if (state == kNone) return kNone;
    }
    return state;
  }
  int32_t Value(int32_t state) const { return first_[static_cast<size_t>(state)].value; }
  int32_t Find(std::string_view key) const {
    const int32_t state = Walk(kRoot, key);
    return state == kNone ? kNone : Value(state);
  }

 private:
  struct Unit {
    int32_t base = 0;        // the child for byte b is at base + b
    int32_t parent = kNone;  // kNone if the unit is free
    int32_t value = kNone;
  };
  friend class TrieBuilder;

  // The array extends 256 units past the largest base, so that Next does not need a bounds check.
  static const Unit kEmpty[256];

  std::vector<Unit> units_;
  const Unit* first_ = kEmpty;  // points to units_ unless the trie is empty
};

}  // namespace peruse::text
