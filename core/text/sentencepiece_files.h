// DeBERTa v2's and v3's tokenizer from spm.model and tokenizer_config.json, as transformers 4 converts it
// (DebertaV2Converter): do_lower_case, split_by_punct; byte fallback stays off.
#pragma once

#include <string_view>

#include "core/text/special_tokens.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_parts.h"

namespace peruse::text {

// Fills the stages; `listed` are the control and user-defined pieces, which become added tokens.
Status ReadSentencePieceFiles(std::string_view model, const TokenizerConfig& config, std::vector<ListedToken>* listed,
                              Tokenizer::Parts* parts);

}  // namespace peruse::text
