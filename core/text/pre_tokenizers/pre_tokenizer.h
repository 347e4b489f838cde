// Splits normalised text into the words that the model tokenizes separately.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/text/normalizers/aligned_text.h"

namespace peruse::text {

// Bytes [begin, end) of the shared text, never empty.
struct Piece {
  uint32_t begin, end;
  int32_t token_id = -1;  // id of an added token, which later stages do not change
};

// The text of one sequence while it is split into words and added tokens.
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

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Splits, and may rewrite, every piece that is not an added token. `scratch` is a buffer. The caller has reserved memory for the pieces.
  // Returns false if memory for rewritten text runs out; `list` is then invalid.
  [[nodiscard]] virtual bool PreTokenize(PieceList* list, PieceList* scratch) const = 0;
};

// Parses "pre_tokenizer" in tokenizer.json; null gives nullptr. `add_prefix_space` overrides that of a ByteLevel outside a Sequence.
Result<std::unique_ptr<PreTokenizer>> ParsePreTokenizer(JsonValue json, std::optional<bool> add_prefix_space);

}  // namespace peruse::text
