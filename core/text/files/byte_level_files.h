// Builds DeBERTa v1's tokenizer from vocab.json, merges.txt and tokenizer_config.json, like transformers' DebertaTokenizerFast.
#pragma once

#include <string_view>

#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"

namespace peruse::text {

Status ReadByteLevelFiles(std::string_view vocabulary, std::string_view merges, const TokenizerConfig& config,
                          Tokenizer::Parts* parts);

}  // namespace peruse::text
