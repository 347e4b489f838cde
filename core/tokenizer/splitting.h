// Splitting pieces at delimiters, with the reference's behaviours for what happens to the delimiter.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tokenizer/pieces.h"

namespace peruse {

enum class SplitBehavior : uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// A part of a piece: a delimiter, or what stands between two of them. Together the segments cover the piece.
struct Segment {
  size_t begin, end;
  bool is_match;
};

// Adds the pieces that `behavior` makes of `segments`.
void AddSegments(const std::vector<Segment>& segments, SplitBehavior behavior, PieceList* list);

// Replaces each piece of `list` that is no added token. `find(text, begin, end, segments)` appends the segments of the
// piece [begin, end) of `text`.
template <typename Find>
void SplitPieces(PieceList* list, PieceList* scratch, SplitBehavior behavior, const Find& find) {
  scratch->pieces.clear();
  std::swap(list->pieces, scratch->pieces);
  std::vector<Segment> segments;
  for (const Piece& piece : scratch->pieces) {
    if (piece.token_id >= 0) {
      list->pieces.push_back(piece);
      continue;
    }
    segments.clear();
    find(list->text.text, piece.begin, piece.end, &segments);
    AddSegments(segments, behavior, list);
  }
}

// The segments of [begin, end) where every character c with is_delimiter(c) is a match of its own.
template <typename IsDelimiter>
void FindDelimiters(std::string_view text, size_t begin, size_t end, const IsDelimiter& is_delimiter,
                    std::vector<Segment>* segments) {
  size_t start = begin;
  for (size_t position = begin; position < end;) {
    const size_t at = position;
    if (!is_delimiter(DecodeUtf8(text, &position))) continue;
    if (start < at) segments->push_back({start, at, false});
    segments->push_back({at, position, true});
    start = position;
  }
  if (start < end) segments->push_back({start, end, false});
}

}  // namespace peruse
