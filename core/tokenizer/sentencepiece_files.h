// DeBERTa v2's and v3's tokenizer from spm.model and tokenizer_config.json, as transformers 4 converts it
// (DebertaV2Converter): do_lower_case, split_by_punct; byte fallback stays off.
#pragma once

#include <string_view>

#include "core/tokenizer/tokenizer_config.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace peruse {

Status ReadSentencePieceFiles(std::string_view model, const TokenizerConfig& config, Tokenizer::Parts* parts);

}  // namespace peruse
