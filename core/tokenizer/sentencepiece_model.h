// spm.model: the parts of a SentencePiece model that a tokenizer needs.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"
#include "core/tokenizer/unigram.h"

namespace peruse {

struct SentencePieceModel {
  UnigramPieces pieces;  // views into the file
  int64_t unk_id = 0;
  bool is_unigram = true;
  std::string_view charsmap;  // empty: no normalisation
};

// `bytes` must outlive the result. Error: kMalformedFile.
Result<SentencePieceModel> ReadSentencePieceModel(std::string_view bytes);

}  // namespace peruse
