#include "core/text/normalizers/simple_normalizers.h"

#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

void Crop(size_t begin, size_t end, AlignedText* text) {
  text->Truncate(end);
  text->text.erase(0, begin);
  text->origins.erase(text->origins.begin(), text->origins.begin() + static_cast<std::ptrdiff_t>(begin));
}

bool NmtRemoves(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

bool NmtBlanks(char32_t c) {
  return c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) || c == 0x2028 ||
         c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

template <typename Map>
bool FilterMap(AlignedText* text, AlignedText* scratch, const Map& map) {
  scratch->Clear();
  scratch->Grow(text->size());
  AlignedEditor editor(*text, 0, text->size(), scratch);
  for (size_t position = 0; position < text->size();) {
    const char32_t c = DecodeUtf8(text->text, &position);
    const std::optional<char32_t> mapped = map(c);
    if (mapped)
      editor.Replace(*mapped);
    else
      editor.Drop(1);
  }
  std::swap(*text, *scratch);
  return !text->failed();
}

}  // namespace

bool SequenceNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  for (const auto& step : steps_) {
    if (!step->Normalize(text, scratch)) return false;
  }
  return true;
}

bool StripNormalizer::Normalize(AlignedText* text, AlignedText*) const {
  size_t begin = 0, end = text->size();
  while (left_ && begin < end) {
    size_t next = begin;
    if (!IsSpace(DecodeUtf8(text->text, &next))) break;
    begin = next;
  }
  while (right_ && end > begin) {
    size_t previous = end;
    if (!IsSpace(DecodeUtf8Backwards(text->text, &previous))) break;
    end = previous;
  }
  if (begin > 0 || end < text->size()) Crop(begin, end, text);
  return true;
}

bool StripAccentsNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (IsAscii(text->text)) return true;
  return FilterMap(text, scratch, [](char32_t c) -> std::optional<char32_t> {
    if (CharClasses(c) & kMarkClass) return std::nullopt;
    return c;
  });
}

bool NmtNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  return FilterMap(text, scratch, [](char32_t c) -> std::optional<char32_t> {
    if (NmtRemoves(c)) return std::nullopt;
    return NmtBlanks(c) ? U' ' : c;
  });
}

bool ReplaceNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  PatternMatches matches(pattern_, text->text);
  if (!matches.Next()) return matches.status().ok() || text->Fail(matches.status());
  scratch->Clear();
  scratch->Grow(text->size());
  AlignedEditor editor(*text, 0, text->size(), scratch);
  do {
    if (scratch->failed()) return text->Fail(scratch->Failure());
    editor.CopyTo(matches.begin());
    while (editor.cursor() < matches.end()) editor.Drop(1);
    for (size_t position = 0; position < content_.size();) editor.Insert(DecodeUtf8(content_, &position));
  } while (matches.Next());
  if (!matches.status().ok()) return text->Fail(matches.status());
  editor.CopyTo(text->size());
  std::swap(*text, *scratch);
  return !text->failed();
}

bool PrependNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (text->text.empty() || prefix_.empty()) return true;
  scratch->Clear();
  scratch->Grow(text->size() + prefix_.size());
  const Offset origin = text->origins[0];
  for (size_t position = 0; position < prefix_.size();) scratch->Append(DecodeUtf8(prefix_, &position), origin);
  scratch->Append(*text, 0, text->size());
  std::swap(*text, *scratch);
  return !text->failed();
}

bool ByteLevelNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  scratch->Clear();
  scratch->Grow(text->size());
  for (size_t i = 0; i < text->size(); ++i) {
    scratch->Append(StandIn(static_cast<unsigned char>(text->text[i])), text->origins[i]);
  }
  std::swap(*text, *scratch);
  return !text->failed();
}

}  // namespace peruse::text
