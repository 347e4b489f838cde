// Splits pieces at delimiters. The behaviours for delimiters are those of tokenizers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

enum class SplitBehavior : uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// Part of a piece: a delimiter, or the text between delimiters. Segments cover the whole piece.
struct Segment {
  size_t begin, end;
  bool is_match;
};

struct Segments {
  std::vector<Segment> list;
  Status failure;  // why the search failed

  void Clear() { list.clear(); }
  void Add(size_t begin, size_t end, bool is_match) {
    if (!TryPushBack(&list, {begin, end, is_match})) failure = OutOfMemory("no memory to split a text");
  }
};

void AddSegments(const std::vector<Segment>& segments, SplitBehavior behavior, PieceList* list);

// Splits each piece of `list` that is not an added token. `find(text, begin, end, segments)` appends the segments of the piece [begin, end)
// of `text`. Returns false if memory runs out.
template <typename Find>
[[nodiscard]] bool SplitPieces(PieceList* list, PieceList* scratch, SplitBehavior behavior, const Find& find) {
  scratch->pieces.clear();
  std::swap(list->pieces, scratch->pieces);
  Segments segments;
  for (const Piece& piece : scratch->pieces) {
    if (piece.token_id >= 0) {
      list->Add(piece.begin, piece.end, piece.token_id);
      continue;
    }
    segments.Clear();
    find(list->text.text, piece.begin, piece.end, &segments);
    if (!segments.failure.ok()) return list->text.Fail(segments.failure);
    AddSegments(segments.list, behavior, list);
  }
  return !list->text.failed();
}

// Splits [begin, end) into segments. Each character for which is_delimiter returns true is a separate delimiter.
template <typename IsDelimiter>
void FindDelimiters(std::string_view text, size_t begin, size_t end, const IsDelimiter& is_delimiter,
                    Segments* segments) {
  size_t start = begin;
  for (size_t position = begin; position < end;) {
    const size_t at = position;
    if (!is_delimiter(DecodeUtf8(text, &position))) continue;
    if (start < at) segments->Add(start, at, false);
    segments->Add(at, position, true);
    start = position;
  }
  if (start < end) segments->Add(start, end, false);
}

}  // namespace peruse::text
