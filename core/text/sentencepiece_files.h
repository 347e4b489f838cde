// Tokenizers from a SentencePiece model and tokenizer_config.json, as transformers 4 converts them: DeBERTa v2 and v3 (spm.model;
// DebertaV2Converter: do_lower_case, split_by_punct), XLM-RoBERTa and CamemBERT (sentencepiece.bpe.model; XLMRobertaConverter,
// CamembertConverter). Byte fallback is off.
#pragma once

#include <string_view>

#include "core/text/special_tokens.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_parts.h"

namespace peruse::text {

// Returns the file name, or nullptr for other vocabularies.
const char* SentencePieceFile(VocabularyFiles files);

// Fills the stages; `listed` receives the control and user-defined pieces, which become added tokens.
Status ReadSentencePieceFiles(std::string_view model, VocabularyFiles files, const TokenizerConfig& config,
                              std::vector<ListedToken>* listed, Tokenizer::Parts* parts);

}  // namespace peruse::text
