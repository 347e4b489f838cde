// tokenizer.json, format 1.0.
#pragma once

#include <memory>
#include <string_view>

#include "core/tokenizer/tokenizer_config.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace peruse {

// Fills the stages and the added tokens. Truncation and padding sections are ignored, as transformers does.
Status ReadTokenizerJson(std::string_view bytes, const TokenizerConfig& config, Tokenizer::Parts* parts);

}  // namespace peruse
