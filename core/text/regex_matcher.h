// RegexMatcher: runs a RegexProgram over a text. All threads advance together, one character at a time, in order of preference, so that
// time is proportional to text times expression and memory to the expression (Pike's algorithm; Cox, "Regular Expression Matching: the
// Virtual Machine Approach").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/regex_program.h"

namespace peruse::text {

class RegexMatcher {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Both must outlive the matcher.
  RegexMatcher(const RegexProgram& program, std::string_view text) : program_(program), text_(text) {}

  // Returns the end of the match that begins at `begin`, or kNone. Errors: kUnsupported when it takes too long, kOutOfMemory.
  Result<size_t> MatchAt(size_t begin);

 private:
  // The threads of one search; each look-ahead has its own.
  struct Search {
    std::vector<int32_t> now, next, stack;
    std::vector<uint32_t> seen;  // by step: the last round that reached it
    uint32_t round = 0;
  };

  // MatchAt for a program that is a run.
  size_t RunOfSet(size_t begin);
  // Returns the end of the match from step `start` on, at text position `begin`.
  size_t Run(int32_t start, size_t begin, int32_t depth);
  // Adds the thread at `start` to `list`, and all threads that it reaches without reading a character.
  void AddThread(int32_t start, size_t at, int32_t depth, std::vector<int32_t>* list);
  bool IsAt(RegexPlace place, size_t at) const;
  bool Reserve();
  // The maximum number of steps for the text.
  uint64_t Limit() const;

  const RegexProgram& program_;
  std::string_view text_;
  std::vector<Search> searches_;  // by depth
  uint64_t steps_ = 0;
  bool is_too_long_ = false;
};

}  // namespace peruse::text
