// Builds tokenizers from a SentencePiece model and tokenizer_config.json, like transformers 4: DeBERTa v2 and v3 (spm.model; do_lower_case,
// split_by_punct), XLM-RoBERTa and CamemBERT (sentencepiece.bpe.model). Byte fallback is off.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"
#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"
#include "core/text/models/unigram.h"

namespace peruse::text {

const char* SentencePieceFile(VocabularyFiles files);

// Sets the stages of the tokenizer. `listed` receives the control and user-defined pieces, which become added tokens.
Status ReadSentencePieceFiles(std::string_view model, VocabularyFiles files, const TokenizerConfig& config,
                              std::vector<ListedToken>* listed, Tokenizer::Parts* parts);

enum class PieceType : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };

// The parts of a SentencePiece model (spm.model, sentencepiece.bpe.model) that a tokenizer needs.
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
