// The text of one sequence while it is split into words and added tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/aligned_text.h"

namespace peruse::text {

// Bytes [begin, end) of the shared text, never empty.
struct Piece {
  uint32_t begin, end;
  int32_t token_id = -1;  // id of an added token, which later stages do not change
};

struct PieceList {
  AlignedText text;
  std::vector<Piece> pieces;
  bool failed = false;  // memory ran out, and the list is invalid

  void Clear() {
    text.Clear();
    pieces.clear();
    failed = false;
  }
  bool complete() const { return !failed && !text.failed; }
  std::string_view View(const Piece& piece) const { return text.view(piece.begin, piece.end); }
  void Add(size_t begin, size_t end, int32_t token_id = -1) {
    if (begin == end || failed) return;
    failed = !TryPushBack(&pieces, {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), token_id});
  }
};

}  // namespace peruse::text
