#include "core/tasks/labels/entity_decoding.h"

#include <algorithm>
#include <tuple>

#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/text/unicode/unicode.h"

namespace peruse {
namespace {

// Whether Python's \w matches the character. Unlike other definitions, it does not match combining marks.
bool IsWordCharacter(char32_t c) {
  return c == '_' || (text::CharClasses(c) & (text::kLetterClass | text::kNumberClass)) != 0;
}

bool IsPythonSpace(char32_t c) { return text::IsSpace(c) || (c >= 0x1C && c <= 0x1F); }

size_t SkipWord(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    size_t end = begin;
    if (!IsWordCharacter(DecodeUtf8(text, &end))) break;
    begin = end;
  }
  return begin;
}

// Returns the sort key that orders candidates as gliner finds them.
std::tuple<int32_t, int32_t, int32_t> Place(const EntityCandidate& it) { return {it.first, it.last, it.label}; }

bool IsBetter(const EntityCandidate& a, const EntityCandidate& b) {
  return a.score != b.score ? a.score > b.score : Place(a) < Place(b);
}

bool IsEarlier(const EntityCandidate& a, const EntityCandidate& b) {
  return a.first != b.first ? a.first < b.first : IsBetter(a, b);
}

bool Conflict(const EntityCandidate& a, const EntityCandidate& b, const EntityRules& rules) {
  if (a.first == b.first && a.last == b.last) return !rules.multi_label;
  if (a.first > b.last || b.first > a.last) return false;
  const bool nested = (a.first <= b.first && b.last <= a.last) || (b.first <= a.first && a.last <= b.last);
  return rules.flat || !nested;
}

}  // namespace

std::vector<text::Offset> SplitWords(std::string_view text) {
  std::vector<text::Offset> words;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    const char32_t c = DecodeUtf8(text, &end);
    if (IsWordCharacter(c)) {
      end = SkipWord(text, end);
      while (end < text.size() && text[end] == '-') {
        const size_t more = SkipWord(text, end + 1);
        if (more == end + 1) break;
        end = more;
      }
    }
    if (!IsPythonSpace(c)) words.push_back({static_cast<int32_t>(begin), static_cast<int32_t>(end)});
    begin = end;
  }
  return words;
}

std::vector<EntityCandidate> ChooseEntities(std::vector<EntityCandidate> candidates, const EntityRules& rules) {
  HeapSort(candidates.begin(), candidates.end(), IsBetter);
  std::vector<EntityCandidate> kept;
  for (const EntityCandidate& next : candidates) {
    const bool conflicts = std::any_of(kept.begin(), kept.end(), [&](const EntityCandidate& other) {
      const bool same = next.first == other.first && next.last == other.last && next.label == other.label;
      return same || Conflict(next, other, rules);
    });
    if (!conflicts) kept.push_back(next);
  }
  HeapSort(kept.begin(), kept.end(), IsEarlier);
  return kept;
}

}  // namespace peruse
