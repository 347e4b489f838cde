// Special tokens of tokenizers that come without tokenizer.json, and finding their ids.
#pragma once

#include <string_view>
#include <vector>

#include "core/tokenizer/tokenizer_config.h"
#include "core/tokenizer/tokenizer_parts.h"

namespace peruse {

// What the configuration says, or `content` as a special token matched in raw text.
AddedToken SpecialTokenOr(const std::optional<AddedToken>& configured, std::string_view content);

// Adds the five special tokens, the configuration's own added tokens first where they give the same content, and makes
// parts->added_tokens of them. Needs the model and the normalizer.
Status AddSpecialTokens(const std::vector<AddedToken>& special, const TokenizerConfig& config, Tokenizer::Parts* parts);

// Fills cls_id and its like: by the configuration, else by the names in use.
void FindSpecialIds(const TokenizerConfig& config, Tokenizer::Parts* parts);

}  // namespace peruse
