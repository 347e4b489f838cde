// Pieces: the text of one sequence while it is cut into words and added tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tokenizer/aligned_text.h"

namespace peruse {

// Bytes [begin, end) of the shared text, never empty.
struct Piece {
  uint32_t begin, end;
  int32_t token_id = -1;  // an added token, which no later stage touches
};

struct PieceList {
  AlignedText text;
  std::vector<Piece> pieces;

  void Clear() {
    text.Clear();
    pieces.clear();
  }
  std::string_view View(const Piece& piece) const { return text.view(piece.begin, piece.end); }
  // Whether there is memory for so many more pieces.
  bool HasMemoryFor(size_t count) const {
    return HasMemory(SaturatingMultiply(3 * sizeof(Piece), pieces.size() + count));
  }
  void Add(size_t begin, size_t end, int32_t token_id = -1) {
    if (begin < end) pieces.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), token_id});
  }
};

}  // namespace peruse
