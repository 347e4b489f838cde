#include "core/text/normalizers/unicode_normalizer.h"

#include <algorithm>
#include <vector>

#include "core/base/memory.h"
#include "core/base/sort.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

struct Change {
  char32_t c;
  int32_t change;
  uint8_t combining_class;
};

// Canonical ordering: sorts each run of combining marks stably by class. Changes move with their characters. Returns false if memory runs out.
[[nodiscard]] bool SortMarks(std::vector<Change>* changes) {
  const auto is_before = [](const Change& a, const Change& b) { return a.combining_class < b.combining_class; };
  for (size_t begin = 0; begin < changes->size();) {
    if ((*changes)[begin].combining_class == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < changes->size() && (*changes)[end].combining_class != 0) ++end;
    Change* const first = changes->data() + begin;
    Change* const last = changes->data() + end;
    if (!std::is_sorted(first, last, is_before)) {
      std::vector<Change> marks;
      if (!TryReserve(&marks, end - begin)) return false;
      marks.assign(first, last);
      if (!MergeSort(&marks, is_before)) return false;
      std::copy(marks.begin(), marks.end(), first);
    }
    begin = end;
  }
  return true;
}

[[nodiscard]] bool DecomposeText(std::string_view text, bool compatibility, std::vector<Change>* changes) {
  if (!TryReserve(changes, CountCodePoints(text))) return false;
  char32_t parts[kMaxDecomposition];
  for (size_t position = 0; position < text.size();) {
    const int count = Decompose(DecodeUtf8(text, &position), compatibility, parts);
    for (int i = 0; i < count; ++i) {
      if (!TryPushBack(changes, {parts[i], i == 0 ? 0 : 1, CombiningClass(parts[i])})) return false;
    }
  }
  return SortMarks(changes);
}

// Canonical composition (Unicode Standard Annex 15). The composite's Change::change, which aligns offsets, is the sum over its parts, minus
// 1 for each part that the composite absorbs. Returns false if memory runs out.
[[nodiscard]] bool ComposeText(std::vector<Change>* changes) {
  const std::vector<Change>& decomposed = *changes;
  std::vector<Change> out, blocked;
  if (!TryReserve(&out, decomposed.size())) return false;
  bool has_starter = false;
  Change starter{};
  const auto flush = [&] {
    if (has_starter) out.push_back(starter);
    out.insert(out.end(), blocked.begin(), blocked.end());
    blocked.clear();
  };
  for (const Change& next : decomposed) {
    if (!has_starter) {
      has_starter = next.combining_class == 0;
      if (has_starter)
        starter = next;
      else
        out.push_back(next);
      continue;
    }
    const bool is_blocked = !blocked.empty() && blocked.back().combining_class >= next.combining_class;
    const char32_t composite = is_blocked ? 0 : Compose(starter.c, next.c);
    if (composite != 0) {
      starter = {composite, starter.change + next.change - 1, 0};
    } else if (next.combining_class == 0) {
      flush();
      starter = next;
    } else {
      if (!TryPushBack(&blocked, next)) return false;
    }
  }
  flush();
  *changes = std::move(out);
  return true;
}

// Whether normalisation cannot change the text: below U+00A0 nothing decomposes, composes or combines.
bool IsInert(std::string_view text, UnicodeForm form) {
  // NFC does not change characters below U+0300 (lead bytes up to 0xCB).
  const unsigned char limit = form == UnicodeForm::kNfc ? 0xCB : 0x7F;
  for (const char byte : text) {
    const auto b = static_cast<unsigned char>(byte);
    if (b > limit) return false;
  }
  return true;
}

}  // namespace

bool UnicodeNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (IsInert(text->text, form_)) return true;
  const bool compatibility = form_ == UnicodeForm::kNfkc || form_ == UnicodeForm::kNfkd;
  std::vector<Change> changes;
  if (!DecomposeText(text->text, compatibility, &changes)) return false;
  if ((form_ == UnicodeForm::kNfc || form_ == UnicodeForm::kNfkc) && !ComposeText(&changes)) return false;
  return ApplyChanges(changes, text, scratch);
}

bool LowercaseNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (IsAscii(text->text)) {
    for (char& c : text->text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 0x20);
    }
    return true;
  }
  scratch->Clear();
  scratch->Grow(text->size());
  AlignedEditor editor(*text, 0, text->size(), scratch);
  for (size_t position = 0; position < text->size();) {
    const LowerCase lower = ToLower(DecodeUtf8(text->text, &position));
    editor.Replace(lower.first);
    if (lower.second != 0) editor.Insert(lower.second);
  }
  std::swap(*text, *scratch);
  return !text->failed();
}

}  // namespace peruse::text
