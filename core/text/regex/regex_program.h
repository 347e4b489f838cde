#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse::text {

// A set of characters: the union of its items, or the complement of the union if `negated`.
struct CharSet {
  enum class Kind : uint8_t { kRange, kCategories, kSpace, kHex, kWord, kWordOutside };
  struct Item {
    Kind kind = Kind::kRange;
    bool negated = false;
    char32_t first = 0, last = 0;  // for kRange
    uint32_t categories = 0;       // for kCategories: one bit per category (unicode.h)
  };

  std::vector<Item> items;
  bool negated = false;
  size_t ranges = 0;  // after Sort: number of leading items that are disjoint ascending ranges

  // Sorts and joins ranges, so that large sets are searched quickly. Returns false if there are more than 64 items of other kinds.
  bool Sort();
  bool Contains(char32_t c) const;
};

// Whether \w outside brackets matches `c`, which also defines \b.
bool IsRegexWord(char32_t c);

// Positions between characters. A line ends before a line feed.
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
    kSplit,   // continue at `x`, else at `y`
    kJump,    // continue at `x`
    kPlace,   // RegexPlace `x`
    kAhead,   // the steps up to `x` match here (or, if `negated`, do not); continue at `x`
    kBehind,  // the preceding character is in set `x` (or, if `negated`, is not)
    kMatch,
  };

  Kind kind;
  bool negated = false;
  int32_t x = 0, y = 0;
};

struct RegexProgram {
  std::vector<RegexStep> steps;
  std::vector<CharSet> sets;
  int32_t depth = 0;  // nesting depth of look-aheads

  // Whether the whole expression is one greedily repeated set, such as \s+ or " {2,}". It then does not need threads.
  bool is_run = false;
  uint32_t least = 1, most = 1;
};

// Compiles Oniguruma's syntax, as tokenizers does: alternatives, groups, classes, \d \w \s \h \p{..}, escapes, anchors, \b, look-ahead,
// look-behind of one character, greedy and lazy quantifiers, (?i:). Errors: kUnsupported, which quotes the expression.
Result<RegexProgram> CompileRegex(std::string_view expression);

}  // namespace peruse::text
