// Reads the parts of a SentencePiece model (spm.model, sentencepiece.bpe.model) that a tokenizer needs.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"
#include "core/text/models/unigram.h"

namespace peruse::text {

enum class PieceType : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

struct SentencePieceModel {
  UnigramPieces pieces;  // views into the file's bytes
  std::vector<PieceType> types;
  int64_t unk_id = 0;
  std::string_view unk_piece = "<unk>";
  int64_t model_type = 1;     // 1 is unigram, 2 is BPE
  std::string_view charsmap;  // character map of the normaliser, or empty
};

Result<SentencePieceModel> ReadSentencePieceModel(std::string_view bytes);  // `bytes` must outlive the result

}  // namespace peruse::text
