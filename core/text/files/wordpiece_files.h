// Builds BERT's tokenizer from vocab.txt and tokenizer_config.json, like transformers' BertTokenizerFast.
#pragma once

#include <string_view>

#include "core/text/files/special_tokens.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"

namespace peruse::text {

Status ReadWordPieceFiles(std::string_view vocabulary_text, const TokenizerConfig& config, const SpecialTokens& special,
                          Tokenizer::Parts* parts);

}  // namespace peruse::text
