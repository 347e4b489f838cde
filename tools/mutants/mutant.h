// The switches of tools/mutants/core.mjs, included in its copy of the sources: PERUSE_MUTANT is the number of the mutant that is on, and
// PERUSE_MUTANT_HITS a file for the mutants that each test reaches.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace peruse_mutants {

inline constexpr int kMost = 1024;
inline std::atomic<bool> seen[kMost];  // by the running test

inline FILE* Hits() {
  static FILE* const file = [] {
    const char* name = std::getenv("PERUSE_MUTANT_HITS");
    return name == nullptr ? nullptr : std::fopen(name, "a");
  }();
  return file;
}

inline bool IsOn(int number) {
  static const int on = [] {
    const char* text = std::getenv("PERUSE_MUTANT");
    return text == nullptr ? -1 : std::atoi(text);
  }();
  if (Hits() != nullptr && !seen[number].load(std::memory_order_relaxed))
    seen[number].store(true, std::memory_order_relaxed);
  return number == on;
}

}  // namespace peruse_mutants
