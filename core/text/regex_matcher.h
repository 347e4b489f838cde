// RegexMatcher: runs a RegexProgram over a text. All threads of the search advance together, one character at a time, in order of
// preference, so that time grows with the text times the expression and memory with the expression alone (Pike's way; Cox,
// "Regular Expression Matching: the Virtual Machine Approach").
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

  // The end of the match that begins at `begin`, or kNone. kUnsupported when it takes too long, kOutOfMemory.
  Result<size_t> MatchAt(size_t begin);

 private:
  // The threads of one search; a look-ahead has its own.
  struct Search {
    std::vector<int32_t> now, next, stack;
    std::vector<uint32_t> seen;  // by step: the last round in which it was reached
    uint32_t round = 0;
  };

  // As MatchAt, where the program is a run.
  size_t RunOfSet(size_t begin);
  // The end of the match from step `start` on, at text position `begin`.
  size_t Run(int32_t start, size_t begin, int32_t depth);
  // Adds the thread at `start`, and all that it leads to without reading a character, to `list`.
  void AddThread(int32_t start, size_t at, int32_t depth, std::vector<int32_t>* list);
  bool IsAt(RegexPlace place, size_t at) const;
  bool Reserve();
  // How many steps the text may take.
  uint64_t Limit() const;

  const RegexProgram& program_;
  std::string_view text_;
  std::vector<Search> searches_;  // by depth
  uint64_t steps_ = 0;
  bool is_too_long_ = false;
};

}  // namespace peruse::text
