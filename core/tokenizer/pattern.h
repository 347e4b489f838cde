// Pattern: what Replace and Split look for: a string, or a regular expression of a small kind.
//
// Regular expressions: alternatives, each one character or class with an optional quantifier, as in " {2,}" and
// "\s{2,}|[\n\r\t]", which are all that published encoders use. Others are refused by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"

namespace peruse {

class Pattern {
 public:
  // {"String": s} or {"Regex": r}.
  static Result<Pattern> FromJson(JsonValue json);
  static Pattern Literal(std::string_view text);
  static Result<Pattern> Regex(std::string_view expression);

  // The first match at or after `from`; never empty.
  bool Find(std::string_view text, size_t from, size_t* begin, size_t* end) const;

 private:
  // Code points from `first` to `last`, or classes as in unicode.h.
  struct Item {
    char32_t first, last;
    uint8_t classes;  // nonzero: any of these classes instead
  };
  // A character of any of `items` (or none of them, if negated), at least `least` and at most `most` times.
  struct Alternative {
    std::vector<Item> items;
    bool negated = false;
    uint32_t least = 1, most = 1;
  };
  class Parser;

  static bool Matches(const Alternative& alternative, char32_t c);
  // The end of a match of any alternative at `at`, or `at`.
  size_t MatchAt(std::string_view text, size_t at) const;

  std::string literal_;
  std::vector<Alternative> alternatives_;  // empty: a literal
  bool ascii_starts_[128] = {};            // ASCII characters that a match of an alternative can start with
};

}  // namespace peruse
