// BERT's tokenizer from vocab.txt and tokenizer_config.json, as transformers' BertTokenizerFast builds it.
#pragma once

#include <string_view>

#include "core/tokenizer/tokenizer_config.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace peruse {

// Fills every stage. `vocabulary_text`: one token per line, its id the line's number.
Status ReadWordPieceFiles(std::string_view vocabulary_text, const TokenizerConfig& config, Tokenizer::Parts* parts);

}  // namespace peruse
