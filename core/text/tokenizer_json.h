// tokenizer.json, format 1.0.
#pragma once

#include <memory>
#include <string_view>

#include "core/text/special_tokens.h"
#include "core/text/tokenizer_class.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_parts.h"

namespace peruse::text {

// Fills the stages, the added tokens and `special`, as the class does. As in transformers, only the direction of the truncation section
// counts, and the padding section is ignored.
Status ReadTokenizerJson(std::string_view bytes, const TokenizerConfig& config, const TokenizerClass& type,
                         SpecialTokens* special, Tokenizer::Parts* parts);

}  // namespace peruse::text
