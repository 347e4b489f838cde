// The text of one sequence while it is split into words and added tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/normalizers/aligned_text.h"

namespace peruse::text {

// Bytes [begin, end) of the shared text, never empty.
struct Piece {
  uint32_t begin, end;
  int32_t token_id = -1;  // id of an added token, which later stages do not change
};

struct PieceList {
  AlignedText text;  // its failure is that of the list, too
  std::vector<Piece> pieces;

  void Clear() {
    text.Clear();
    pieces.clear();
  }
  std::string_view View(const Piece& piece) const { return text.view(piece.begin, piece.end); }
  void Add(size_t begin, size_t end, int32_t token_id = -1) {
    if (begin == end || text.failed()) return;
    const Piece piece = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), token_id};
    if (!TryPushBack(&pieces, piece)) text.FailForMemory();
  }
};

}  // namespace peruse::text
