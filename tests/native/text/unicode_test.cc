// Compares the mappings of core/text with utf8proc, from which the tables come: every character, every pair that composes.
#include "core/text/unicode/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace peruse::text {
namespace {

constexpr char32_t kEnd = 0x110000;

std::vector<char32_t> Decomposed(char32_t c, bool compatibility) {
  char32_t parts[kMaxDecomposition];
  return {parts, parts + Decompose(c, compatibility, parts)};
}

std::vector<char32_t> DecomposedByUtf8proc(char32_t c, bool compatibility) {
  utf8proc_int32_t parts[kMaxDecomposition];
  int boundary = 0;
  const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts, kMaxDecomposition,
                                             static_cast<utf8proc_option_t>(options), &boundary);
  return {parts, parts + count};
}

char32_t ComposedByUtf8proc(char32_t first, char32_t second) {
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  return utf8proc_normalize_utf32(pair, 2, options) == 1 ? static_cast<char32_t>(pair[0]) : 0;
}

TEST(Unicode, LowerCaseIsUtf8procsBeforeUnicode15) {
  int newer = 0;
  for (char32_t c = 0; c < kEnd; ++c) {
    if (c == 0x130) continue;  // becomes two characters
    const auto expected = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
    const LowerCase lower = ToLower(c);
    ASSERT_EQ(lower.second, 0U);
    if (expected == c && lower.first != c)
      ++newer;
    else
      ASSERT_EQ(lower.first, expected) << std::hex << static_cast<uint32_t>(c);
  }
  EXPECT_EQ(newer, 55);  // those of Unicode 16 and 17
}

TEST(Unicode, DecompositionsAreUtf8procsOrNone) {
  int unknown = 0;
  for (const bool compatibility : {false, true}) {
    for (char32_t c = 0; c < kEnd; ++c) {
      const std::vector<char32_t> expected = DecomposedByUtf8proc(c, compatibility);
      const std::vector<char32_t> actual = Decomposed(c, compatibility);
      if (actual != expected && actual == std::vector<char32_t>{c})
        ++unknown;
      else
        ASSERT_EQ(actual, expected) << std::hex << static_cast<uint32_t>(c);
    }
  }
  EXPECT_EQ(unknown, 136);  // newer than tokenizers' data
}

TEST(Unicode, CombiningClassesAreUtf8procsOrNone) {
  int unknown = 0;
  for (char32_t c = 0; c < kEnd; ++c) {
    const int expected = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
    if (CombiningClass(c) == 0 && expected != 0)
      ++unknown;
    else
      ASSERT_EQ(CombiningClass(c), expected) << std::hex << static_cast<uint32_t>(c);
  }
  EXPECT_EQ(unknown, 108);
}

// Combines all first and second characters of composing pairs: both implementations must agree.
TEST(Unicode, PairsComposeAsUtf8procs) {
  std::vector<char32_t> firsts, seconds;
  for (char32_t c = 0; c < kEnd; ++c) {
    const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
    if (property.comb_index == UINT16_MAX) continue;
    (property.comb_index < 0x8000 ? firsts : seconds).push_back(c);
  }
  ASSERT_GT(firsts.size(), 300U);
  ASSERT_GT(seconds.size(), 50U);
  int composed = 0, unknown = 0;
  for (const char32_t first : firsts) {
    for (const char32_t second : seconds) {
      const char32_t expected = ComposedByUtf8proc(first, second);
      const char32_t actual = Compose(first, second);
      composed += actual != 0;
      if (actual == 0 && expected != 0)
        ++unknown;
      else
        ASSERT_EQ(actual, expected) << std::hex << static_cast<uint32_t>(first) << ' ' << static_cast<uint32_t>(second);
    }
  }
  EXPECT_GT(composed, 900);
  EXPECT_EQ(unknown, 1);
}

TEST(Unicode, HangulComposes) {
  for (char32_t c = 0xAC00; c <= 0xD7A3; ++c) {
    const std::vector<char32_t> parts = Decomposed(c, false);
    char32_t syllable = Compose(parts[0], parts[1]);
    if (parts.size() == 3) syllable = Compose(syllable, parts[2]);
    ASSERT_EQ(syllable, c);
  }
  EXPECT_EQ(Compose(0xAC00, 0x11A7), 0U);  // one before the first T; utf8proc composes it
  EXPECT_EQ(Compose(0xAC01, 0x11A8), 0U);
  EXPECT_EQ(Compose(0x1112, 0x1176), 0U);
}

// The first and last characters of the ranges of Hangul, and their neighbours.
TEST(Unicode, OnlyHangulComposesAsHangul) {
  const char32_t firsts[] = {0x10FF, 0x1100, 0x1112, 0x1113, 0xABFF, 0xAC00, 0xAC01,
                             0xAC1B, 0xAC1C, 0xD788, 0xD7A3, 0xD7A4, 0xD7C0};
  const char32_t seconds[] = {0x1160, 0x1161, 0x1175, 0x1176, 0x11A6, 0x11A8, 0x11C2, 0x11C3};
  for (const char32_t first : firsts) {
    for (const char32_t second : seconds) {
      EXPECT_EQ(Compose(first, second), ComposedByUtf8proc(first, second))
          << std::hex << static_cast<uint32_t>(first) << ' ' << static_cast<uint32_t>(second);
    }
  }
  EXPECT_EQ(Compose(0xAC00, 0x11A7), 0U);  // no final consonant, though utf8proc takes it for one
}

// All pairs and triples of classes, with two characters for each.
TEST(Unicode, GraphemesBreakAsUtf8procs) {
  std::vector<char32_t> samples;
  int taken[32] = {};
  for (char32_t c = 0; c < kEnd; ++c) {
    const auto boundary = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass;
    if (taken[boundary]++ < 2) samples.push_back(c);
  }
  ASSERT_GT(samples.size(), 25U);
  for (const char32_t a : samples) {
    for (const char32_t b : samples) {
      for (const char32_t c : samples) {
        for (const char32_t d : samples) {
          int32_t state = 0, expected_state = 0;
          const char32_t text[] = {a, b, c, d};
          for (size_t i = 1; i < std::size(text); ++i) {
            const bool expected = utf8proc_grapheme_break_stateful(
                static_cast<utf8proc_int32_t>(text[i - 1]), static_cast<utf8proc_int32_t>(text[i]), &expected_state);
            ASSERT_EQ(IsGraphemeBreak(text[i - 1], text[i], &state), expected);
            ASSERT_EQ(state, expected_state);
          }
        }
      }
    }
  }
}

TEST(Unicode, GraphemeClassesAreUtf8procs) {
  for (char32_t c = 0; c < kEnd; ++c) {
    int32_t state = 0, expected_state = 0;
    IsGraphemeBreak('a', c, &state);
    utf8proc_grapheme_break_stateful('a', static_cast<utf8proc_int32_t>(c), &expected_state);
    ASSERT_EQ(state, expected_state) << std::hex << static_cast<uint32_t>(c);
  }
}

}  // namespace
}  // namespace peruse::text
