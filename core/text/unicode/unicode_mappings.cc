// Lower case, normalisation and grapheme clusters: tables of utf8proc 2.8 (Unicode 15), corrected to what tokenizers does.
#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/base/sort.h"
#include "core/text/unicode/block_table.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

struct LowerRun {
  char32_t first, last;
  int32_t step, distance;
};
#include "core/text/unicode/unicode_mappings.inc"

struct Range {
  char32_t first, last;
};

// Characters newer than tokenizers' normalisation data (Unicode 9), which leaves them unchanged and gives them combining class 0.
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

// Lower-cases characters that tokenizers (Unicode 17) knows and utf8proc 2.8 (Unicode 15) does not.
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

using LowerTable = BlockTable<int32_t, 40>;

LowerTable MakeLowerTable() {
  return LowerTable([](char32_t start, int32_t* block) {
    for (const LowerRun& run : kLowerRuns) {
      if (run.last < start || run.first >= start + LowerTable::kBlock) continue;
      for (char32_t c = run.first; c <= run.last; c += static_cast<char32_t>(run.step)) {
        if (c >= start && c < start + LowerTable::kBlock) block[c - start] = run.distance;
      }
    }
  });
}

constexpr auto kPackedGraphemeRuns = Packed<kGraphemeRuns, ValueBelow<8>>();
constexpr auto kPackedCombiningRuns = Packed<kCombiningRuns, ValueBelow<8>>();
constexpr auto kPackedDecompositions = Packed<kDecompositions, ValueAbove<21>>();

// Flags of an entry of kDecompositions: whether the decomposition is canonical, and whether composition may reverse it.
constexpr uint32_t kCanonical = 1U << 31;
constexpr uint32_t kComposes = 1U << 30;
constexpr char32_t CodePointOf(uint32_t entry) { return entry & 0x1FFFFF; }
constexpr uint32_t PartsOf(uint32_t entry) { return entry >> 21 & 0x1FF; }

class Decompositions {
 public:
  struct Found {
    uint32_t entry = 0;  // kDecompositions' entry, or 0
    const char16_t* parts = nullptr;
  };
  struct Composite {
    char32_t second, first, composite;
  };
  static constexpr size_t kMostComposites = 960;

  Decompositions() : numbers_(Unpack(entries_)) {
    size_t unit = 0, at = 0;
    for (const uint32_t entry : entries_) {
      starts_[at++] = static_cast<uint16_t>(unit);
      const char16_t* parts = kDecompositionUnits + unit;
      char32_t pair[2] = {};
      for (uint32_t i = 0; i < PartsOf(entry); ++i) pair[i & 1] = Next(&parts);
      if (entry & kComposes) {
        PERUSE_CHECK(composite_count_ < kMostComposites);
        composites_[composite_count_++] = {pair[1], pair[0], CodePointOf(entry)};
      }
      unit = static_cast<size_t>(parts - kDecompositionUnits);
    }
    HeapSort(composites_, composites_ + composite_count_, IsBefore);
  }

  Found Find(char32_t c) const {
    const uint16_t number = numbers_[c];
    if (number == 0) return {};
    return {entries_[number - 1], kDecompositionUnits + starts_[number - 1]};
  }

  char32_t Compose(char32_t first, char32_t second) const {
    const Composite wanted = {second, first, 0};
    const Composite* const end = composites_ + composite_count_;
    const Composite* const at = std::lower_bound(composites_, end, wanted, IsBefore);
    return at != end && !IsBefore(wanted, *at) ? at->composite : 0;
  }

  static char32_t Next(const char16_t** parts) {
    const char32_t unit = *(*parts)++;
    if ((unit & 0xFC00) != 0xD800) return unit;
    return 0x10000 + ((unit & 0x3FF) << 10 | (*(*parts)++ & 0x3FF));
  }

 private:
  static bool IsBefore(const Composite& a, const Composite& b) {
    return a.second != b.second ? a.second < b.second : a.first < b.first;
  }

  using Numbers = BlockTable<uint16_t, 112>;

  // Maps each character to the number of its entry, from 1 on.
  static Numbers Unpack(uint32_t (&entries)[std::size(kDecompositions)]) {
    PackedReader reader(kPackedDecompositions.data(), kPackedDecompositions.size());
    for (uint32_t& entry : entries) {
      const auto [c, value] = reader.Next();
      entry = value << 21 | c;
    }
    return Numbers([&entries, at = size_t{0}](char32_t start, uint16_t* block) mutable {
      for (; at < std::size(entries) && CodePointOf(entries[at]) < start + Numbers::kBlock; ++at) {
        block[CodePointOf(entries[at]) - start] = static_cast<uint16_t>(at + 1);
      }
    });
  }

  uint32_t entries_[std::size(kDecompositions)];
  Numbers numbers_;
  uint16_t starts_[std::size(kDecompositions)];
  size_t composite_count_ = 0;
  Composite composites_[kMostComposites];
};

const Decompositions& AllDecompositions() {
  static const Decompositions all;
  return all;
}

// Hangul syllables (S) are computed from their jamo (L, V, T).
constexpr char32_t kHangulL = 0x1100, kHangulV = 0x1161, kHangulT = 0x11A7, kHangulS = 0xAC00;
constexpr char32_t kHangulLs = 19, kHangulVs = 21, kHangulTs = 28, kHangulSs = kHangulLs * kHangulVs * kHangulTs;

int DecomposeHangul(char32_t c, char32_t* out) {
  const char32_t syllable = c - kHangulS;
  out[0] = kHangulL + syllable / (kHangulVs * kHangulTs);
  out[1] = kHangulV + syllable / kHangulTs % kHangulVs;
  out[2] = kHangulT + syllable % kHangulTs;
  return out[2] == kHangulT ? 2 : 3;
}

char32_t ComposeHangul(char32_t first, char32_t second) {
  if (first - kHangulL < kHangulLs && second - kHangulV < kHangulVs) {
    return kHangulS + ((first - kHangulL) * kHangulVs + (second - kHangulV)) * kHangulTs;
  }
  const bool lacks_t = first - kHangulS < kHangulSs && (first - kHangulS) % kHangulTs == 0;
  return lacks_t && second > kHangulT && second - kHangulT < kHangulTs ? first + (second - kHangulT) : 0;
}

int DecomposeFully(char32_t c, bool compatibility, char32_t* out, int room) {
  if (c - kHangulS < kHangulSs && room >= 3) return DecomposeHangul(c, out);
  const Decompositions::Found found = AllDecompositions().Find(c);
  if (found.entry == 0 || !(compatibility || (found.entry & kCanonical))) {
    if (room > 0) out[0] = c;
    return 1;
  }
  int count = 0;
  const char16_t* parts = found.parts;
  for (uint32_t i = 0; i < PartsOf(found.entry) && count < room; ++i) {
    count += DecomposeFully(Decompositions::Next(&parts), compatibility, out + count, room - count);
  }
  return count;
}

// Grapheme_Cluster_Break of UAX #29, numbered as in kGraphemeRuns. kStart is the state before a text, kPictographicJoiner that after a
// pictograph and a joiner.
enum GraphemeBreak : int32_t {
  kStart,
  kOther,
  kCr,
  kLf,
  kControl,
  kExtend,
  kL,
  kV,
  kT,
  kLv,
  kLvt,
  kRegionalIndicator,
  kSpacingMark,
  kPrepend,
  kJoiner,
  kPictographic = 19,
  kPictographicJoiner,
};

// Applies the rules GB3 to GB999 to the classes of two neighbours.
bool BreaksBetween(int32_t first, int32_t second) {
  const auto is_control = [](int32_t one) { return one == kCr || one == kLf || one == kControl; };
  if (first == kStart) return true;
  if (first == kCr && second == kLf) return false;
  if (is_control(first) || is_control(second)) return true;
  if (first == kL && (second == kL || second == kV || second == kLv || second == kLvt)) return false;
  if ((first == kLv || first == kV) && (second == kV || second == kT)) return false;
  if ((first == kLvt || first == kT) && second == kT) return false;
  if (second == kExtend || second == kJoiner || second == kSpacingMark || first == kPrepend) return false;
  if (first == kPictographicJoiner && second == kPictographic) return false;
  return first != kRegionalIndicator || second != kRegionalIndicator;
}

int32_t GraphemeBreakOf(char32_t c) {
  static const RunTable<160> table(kPackedGraphemeRuns);
  return table[c];
}

}  // namespace

LowerCase ToLower(char32_t c) {
  if (c < 0x80) return {c >= 'A' && c <= 'Z' ? c + 0x20 : c, 0};
  if (c == 0x130) return {'i', 0x307};
  static const LowerTable distances = MakeLowerTable();
  const int32_t distance = distances[c];
  return {distance == 0 ? NewerToLower(c) : c + static_cast<char32_t>(distance), 0};
}

int Decompose(char32_t c, bool compatibility, char32_t out[kMaxDecomposition]) {
  out[0] = c;
  if ((c < 0xC0 && !compatibility) || c < 0x80 || IsUnknownToNormalization(c)) return 1;
  return DecomposeFully(c, compatibility, out, kMaxDecomposition);
}

uint8_t CombiningClass(char32_t c) {
  if (c < 0x300 || IsUnknownToNormalization(c)) return 0;
  static const RunTable<96> table(kPackedCombiningRuns);
  return table[c];
}

char32_t Compose(char32_t first, char32_t second) {
  if (second < 0x300) return 0;
  if (const char32_t syllable = ComposeHangul(first, second)) return syllable;
  const char32_t composite = AllDecompositions().Compose(first, second);
  return IsUnknownToNormalization(composite) ? 0 : composite;
}

bool IsGraphemeBreak(char32_t first, char32_t second, int32_t* state) {
  const int32_t next = GraphemeBreakOf(second);
  const bool breaks = BreaksBetween(*state == kStart ? GraphemeBreakOf(first) : *state, next);
  if (*state == kStart) *state = GraphemeBreakOf(first);
  if (*state == next && next == kRegionalIndicator) {
    *state = kOther;  // flags are pairs of regional-indicator letters: a third letter starts a new cluster
  } else if (*state == kPictographic && next == kExtend) {
  } else {
    *state = *state == kPictographic && next == kJoiner ? static_cast<int32_t>(kPictographicJoiner) : next;
  }
  return breaks;
}

}  // namespace peruse::text
