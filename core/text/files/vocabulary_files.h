// Builds tokenizers from vocabulary files and tokenizer_config.json.
#pragma once

#include <string_view>

#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"

namespace peruse::text {

// Builds BERT's tokenizer from vocab.txt, like transformers' BertTokenizerFast.
Status ReadWordPieceFiles(std::string_view vocabulary_text, const TokenizerConfig& config, const SpecialTokens& special,
                          Tokenizer::Parts* parts);

// Builds DeBERTa v1's tokenizer from vocab.json and merges.txt, like transformers' DebertaTokenizerFast.
Status ReadByteLevelFiles(std::string_view vocabulary, std::string_view merges, const TokenizerConfig& config,
                          Tokenizer::Parts* parts);

}  // namespace peruse::text
