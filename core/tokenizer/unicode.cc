#include "core/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

namespace peruse {
namespace {

constexpr uint32_t kClassRuns[] = {
#include "core/tokenizer/unicode_tables.inc"
};
constexpr char32_t kCodePoints = 0x110000;

// The runs spread out into blocks of 128 code points, equal blocks shared, for look-ups in constant time.
class ClassTable {
 public:
  ClassTable() {
    std::vector<uint8_t> all(kCodePoints);
    for (size_t i = 0; i < std::size(kClassRuns); ++i) {
      const size_t end = i + 1 < std::size(kClassRuns) ? kClassRuns[i + 1] >> 8 : kCodePoints;
      std::fill(all.begin() + (kClassRuns[i] >> 8), all.begin() + static_cast<std::ptrdiff_t>(end),
                static_cast<uint8_t>(kClassRuns[i]));
    }
    for (size_t start = 0; start < kCodePoints; start += kBlock) {
      const uint8_t* block = &all[start];
      size_t found = 0;
      // Equal blocks mostly follow each other (unassigned planes, Han), so the newest ones are tried first.
      for (found = blocks_.size() / kBlock; found > 0; --found) {
        if (std::equal(block, block + kBlock, &blocks_[(found - 1) * kBlock])) break;
      }
      if (found == 0) {
        blocks_.insert(blocks_.end(), block, block + kBlock);
        found = blocks_.size() / kBlock;
      }
      index_[start / kBlock] = static_cast<uint16_t>(found - 1);
    }
  }

  uint8_t operator[](char32_t c) const { return blocks_[index_[c / kBlock] * kBlock + c % kBlock]; }

 private:
  static constexpr size_t kBlock = 128;
  uint16_t index_[kCodePoints / kBlock];
  std::vector<uint8_t> blocks_;
};

struct Range {
  char32_t first, last;
};

// Characters newer than the normalisation data of the reference (unicode-normalization-alignments 0.1.12, Unicode 9):
// for it they neither decompose nor compose, and their combining class is 0.
constexpr Range kUnknownToNormalization[] = {
    {0x7FD, 0x7FD},     {0x898, 0x8D3},     {0x9FE, 0x9FE},     {0xC3C, 0xC3C},     {0xD3B, 0xD3C},
    {0xEBA, 0xEBA},     {0x1715, 0x1715},   {0x1ABF, 0x1ACE},   {0x1DF6, 0x1DFA},   {0x32FF, 0x32FF},
    {0xA7F2, 0xA7F4},   {0xA82C, 0xA82C},   {0xAB69, 0xAB69},   {0x10781, 0x107BA}, {0x10D24, 0x10F85},
    {0x11070, 0x11070}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x11839, 0x11A99}, {0x11D42, 0x11F42},
    {0x16FF0, 0x16FF1}, {0x1E030, 0x1E4EF}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
};

bool IsUnknownToNormalization(char32_t c) {
  if (c < kUnknownToNormalization[0].first) return false;
  for (const Range& range : kUnknownToNormalization) {
    if (c <= range.last) return c >= range.first;
  }
  return false;
}

// Lower case of characters newer than utf8proc 2.8 (Unicode 15) that the reference (Unicode 17) knows.
char32_t NewerToLower(char32_t c) {
  if (c >= 0x10D50 && c <= 0x10D65) return c + 0x20;
  if (c >= 0x16EA0 && c <= 0x16EB8) return c + 0x1B;
  switch (c) {
    case 0x1C89:
      return 0x1C8A;
    case 0xA7CB:
      return 0x264;
    case 0xA7DC:
      return 0x19B;
    case 0xA7CC:
    case 0xA7CE:
    case 0xA7D2:
    case 0xA7D4:
    case 0xA7DA:
      return c + 1;
    default:
      return c;
  }
}

}  // namespace

uint8_t LookUpCharClasses(char32_t c) {
  static const ClassTable table;
  return table[c];
}

LowerCase ToLower(char32_t c) {
  if (c < 0x80) return {c >= 'A' && c <= 'Z' ? c + 0x20 : c, 0};
  if (c == 0x130) return {'i', 0x307};
  const auto lower = static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  return {lower == c ? NewerToLower(c) : lower, 0};
}

int Decompose(char32_t c, bool compatibility, char32_t out[kMaxDecomposition]) {
  out[0] = c;
  if (c < 0xC0 && !compatibility) return 1;
  // Only characters with a decomposition of their own, and Hangul syllables, have any.
  const bool is_hangul = c >= 0xAC00 && c <= 0xD7A3;
  if (!is_hangul && utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->decomp_seqindex == UINT16_MAX) return 1;
  if (IsUnknownToNormalization(c)) return 1;
  utf8proc_int32_t buffer[kMaxDecomposition];
  int boundary_class = UTF8PROC_BOUNDCLASS_START;
  const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatibility ? UTF8PROC_COMPAT : 0);
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer, kMaxDecomposition,
                                             static_cast<utf8proc_option_t>(options), &boundary_class);
  if (count < 1 || count > kMaxDecomposition) return 1;
  std::copy(buffer, buffer + count, out);
  return static_cast<int>(count);
}

uint8_t CombiningClass(char32_t c) {
  if (c < 0x300 || IsUnknownToNormalization(c)) return 0;
  return static_cast<uint8_t>(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
}

char32_t Compose(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second), 0};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (utf8proc_normalize_utf32(pair, 2, options) != 1) return 0;
  const auto composite = static_cast<char32_t>(pair[0]);
  return IsUnknownToNormalization(composite) ? 0 : composite;
}

bool IsGraphemeBreak(char32_t first, char32_t second, int32_t* state) {
  return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second),
                                          state);
}

}  // namespace peruse
