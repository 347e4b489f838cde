// Builds tokenizers from a SentencePiece model and tokenizer_config.json, like transformers 4: DeBERTa v2 and v3 (spm.model; do_lower_case,
// split_by_punct), XLM-RoBERTa and CamemBERT (sentencepiece.bpe.model). Byte fallback is off.
#pragma once

#include <string_view>

#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"

namespace peruse::text {

const char* SentencePieceFile(VocabularyFiles files);

// Sets the stages of the tokenizer. `listed` receives the control and user-defined pieces, which become added tokens.
Status ReadSentencePieceFiles(std::string_view model, VocabularyFiles files, const TokenizerConfig& config,
                              std::vector<ListedToken>* listed, Tokenizer::Parts* parts);

}  // namespace peruse::text
