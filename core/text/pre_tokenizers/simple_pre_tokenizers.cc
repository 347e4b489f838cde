#include "core/text/pre_tokenizers/simple_pre_tokenizers.h"

#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

// Like Rust's char::is_numeric, which uses a newer Unicode version than tokenizers' regular expressions: adds the newer digits.
bool IsNumeric(char32_t c) {
  return (CharClasses(c) & kNumberClass) != 0 || (c >= 0x11DE0 && c <= 0x11DE9) || (c >= 0x16FF4 && c <= 0x16FF6);
}

}  // namespace
bool SequencePreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  for (const auto& step : steps_) {
    if (!step->PreTokenize(list, scratch)) return false;
  }
  return true;
}

bool SplitPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  return SplitPieces(list, scratch, behavior_,
                     [&](std::string_view text, size_t begin, size_t end, Segments* segments) {
                       size_t from = 0;
                       PatternMatches matches(pattern_, text.substr(begin, end - begin));
                       while (matches.Next()) {
                         if (from < matches.begin()) segments->Add(begin + from, begin + matches.begin(), invert_);
                         segments->Add(begin + matches.begin(), begin + matches.end(), !invert_);
                         from = matches.end();
                       }
                       if (!matches.status().ok()) segments->failure = matches.status();
                       if (begin + from < end) segments->Add(begin + from, end, invert_);
                     });
}

bool PunctuationPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  return SplitPieces(list, scratch, behavior_, [](std::string_view text, size_t begin, size_t end, Segments* segments) {
    FindDelimiters(text, begin, end, IsPunctuation, segments);
  });
}

bool WhitespacePreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  return SplitPieces(list, scratch, SplitBehavior::kRemoved,
                     [](std::string_view text, size_t begin, size_t end, Segments* segments) {
                       const auto kind = [](char32_t c) { return CharClasses(c) & (kWordClass | kSpaceClass); };
                       while (begin < end) {
                         const size_t start = begin;
                         const int first = kind(DecodeUtf8(text, &begin));
                         while (begin < end) {
                           size_t next = begin;
                           if (kind(DecodeUtf8(text, &next)) != first) break;
                           begin = next;
                         }
                         segments->Add(start, begin, (first & kSpaceClass) != 0);
                       }
                     });
}

bool WhitespaceSplitPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  return SplitPieces(list, scratch, SplitBehavior::kRemoved,
                     [](std::string_view text, size_t begin, size_t end, Segments* segments) {
                       FindDelimiters(text, begin, end, IsSpace, segments);
                     });
}

bool DigitsPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  const SplitBehavior behavior = individual_ ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
  return SplitPieces(list, scratch, behavior, [](std::string_view text, size_t begin, size_t end, Segments* segments) {
    FindDelimiters(text, begin, end, IsNumeric, segments);
  });
}

}  // namespace peruse::text
