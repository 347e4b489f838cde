// RegexProgram: what a regular expression is compiled into, and the sets of characters in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse::text {

// A set of characters: those of any item, or of none of them if negated.
struct CharSet {
  enum class Kind : uint8_t { kRange, kCategories, kSpace, kHex, kWord, kWordOutside };
  struct Item {
    Kind kind = Kind::kRange;
    bool negated = false;
    char32_t first = 0, last = 0;  // kRange
    uint32_t categories = 0;       // kCategories: one bit for each, see unicode_category.h
  };

  std::vector<Item> items;
  bool negated = false;
  size_t ranges = 0;  // after Sort: the first items are so many ranges, in order, apart from each other

  // Sorts and joins the ranges, so that a set of many is searched quickly. False for more than 64 items of other kinds.
  bool Sort();
  bool Contains(char32_t c) const;
};

// What \w means outside of brackets, and what \b stands beside.
bool IsRegexWord(char32_t c);

// Places between characters. A line ends before '\n'.
enum class RegexPlace : uint8_t {
  kLineBegin,       // ^
  kLineEnd,         // $
  kTextBegin,       // \A
  kTextEnd,         // \z
  kBeforeLastLine,  // \Z
  kWordBoundary,    // \b
  kNoWordBoundary,  // \B
};

struct RegexStep {
  enum class Kind : uint8_t {
    kSet,     // a character of set `x`
    kSplit,   // go on at `x`, or else at `y`
    kJump,    // go on at `x`
    kPlace,   // RegexPlace `x`
    kAhead,   // the steps up to `x` match from here on, or, if `negated`, do not; go on at `x`
    kBehind,  // a character of set `x` stands before, or, if `negated`, does not
    kMatch,
  };

  Kind kind;
  bool negated = false;
  int32_t x = 0, y = 0;
};

struct RegexProgram {
  std::vector<RegexStep> steps;
  std::vector<CharSet> sets;
  int32_t depth = 0;  // of look-aheads within each other

  // Where the whole expression is one set, repeated greedily, as \s+ and " {2,}": it needs no threads.
  bool is_run = false;
  uint32_t least = 1, most = 1;
};

// Reads Oniguruma's syntax, as the reference library does: alternatives, groups, classes, \d \w \s \h \p{..}, escapes, anchors, \b,
// look-ahead, look-behind of one character, greedy and lazy quantifiers, (?i:). Error: kUnsupported, which quotes the expression.
Result<RegexProgram> CompileRegex(std::string_view expression);

}  // namespace peruse::text
