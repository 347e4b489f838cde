// Runs a RegexProgram over a text with Pike's algorithm (Cox, "Regular Expression Matching: the Virtual Machine Approach"): all threads
// advance together, one character at a time, in order of preference. Time is proportional to text times expression, memory to the
// expression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/regex/regex_program.h"

namespace peruse::text {

class RegexMatcher {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // The arguments must outlive the matcher.
  RegexMatcher(const RegexProgram& program, std::string_view text) : program_(program), text_(text) {}

  // Returns the end of the match that begins at `begin`, or kNone. Errors: kOutOfMemory, kUnsupported if the search takes too long.
  Result<size_t> MatchAt(size_t begin);

 private:
  struct Search {
    std::vector<int32_t> now, next, stack;
    std::vector<uint32_t> seen;  // for each step: the last round that reached it
    uint32_t round = 0;
  };

  // Computes MatchAt for a program with RegexProgram::is_run.
  size_t RunOfSet(size_t begin);
  size_t Run(int32_t start, size_t begin, int32_t depth);
  // Adds the thread at `start` to `list`, and all threads that it reaches without consuming a character.
  void AddThread(int32_t start, size_t at, int32_t depth, std::vector<int32_t>* list);
  bool IsAt(RegexPlace place, size_t at) const;
  bool Reserve();
  uint64_t Limit() const;

  const RegexProgram& program_;
  std::string_view text_;
  std::vector<Search> searches_;  // indexed by nesting depth of look-aheads
  uint64_t steps_ = 0;
  bool is_too_long_ = false;
};

}  // namespace peruse::text
