#include "core/tokenizer/simple_pre_tokenizers.h"

#include "core/tokenizer/unicode.h"

namespace peruse {
namespace {

using Segments = std::vector<Segment>;

}  // namespace

bool SequencePreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  for (const auto& step : steps_) {
    if (!step->PreTokenize(list, scratch)) return false;
  }
  return true;
}

bool SplitPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  SplitPieces(list, scratch, behavior_, [&](std::string_view text, size_t begin, size_t end, Segments* segments) {
    const std::string_view piece = text.substr(begin, end - begin);
    size_t from = 0, match = 0, match_end = 0;
    while (pattern_.Find(piece, from, &match, &match_end)) {
      if (from < match) segments->push_back({begin + from, begin + match, invert_});
      segments->push_back({begin + match, begin + match_end, !invert_});
      from = match_end;
    }
    if (from < piece.size()) segments->push_back({begin + from, end, invert_});
  });
  return true;
}

bool PunctuationPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  SplitPieces(list, scratch, behavior_, [](std::string_view text, size_t begin, size_t end, Segments* segments) {
    FindDelimiters(text, begin, end, IsPunctuation, segments);
  });
  return true;
}

bool WhitespacePreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  SplitPieces(list, scratch, SplitBehavior::kRemoved,
              [](std::string_view text, size_t begin, size_t end, Segments* segments) {
                // A run of equal kind, white space to be removed.
                const auto kind = [](char32_t c) { return CharClasses(c) & (kWordClass | kSpaceClass); };
                while (begin < end) {
                  const size_t start = begin;
                  const int first = kind(DecodeUtf8(text, &begin));
                  while (begin < end) {
                    size_t next = begin;
                    if (kind(DecodeUtf8(text, &next)) != first) break;
                    begin = next;
                  }
                  segments->push_back({start, begin, (first & kSpaceClass) != 0});
                }
              });
  return true;
}

bool WhitespaceSplitPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  SplitPieces(list, scratch, SplitBehavior::kRemoved,
              [](std::string_view text, size_t begin, size_t end, Segments* segments) {
                FindDelimiters(text, begin, end, IsSpace, segments);
              });
  return true;
}

bool DigitsPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  const SplitBehavior behavior = individual_ ? SplitBehavior::kIsolated : SplitBehavior::kContiguous;
  SplitPieces(list, scratch, behavior, [](std::string_view text, size_t begin, size_t end, Segments* segments) {
    FindDelimiters(text, begin, end, [](char32_t c) { return (CharClasses(c) & kNumberClass) != 0; }, segments);
  });
  return true;
}

}  // namespace peruse
