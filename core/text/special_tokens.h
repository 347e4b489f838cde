// Special tokens: which tokens a class adds to those of tokenizer.json, and which ones have a role.
#pragma once

#include <string_view>
#include <vector>

#include "core/text/tokenizer_class.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_parts.h"

namespace peruse::text {

// A token of tokenizer.json's added_tokens with the id that the file gives, which is not always the one it gets.
struct ListedToken {
  int64_t id;
  TokenEntry entry;
};

// What the configuration and the class make of the special tokens, as PreTrainedTokenizerFast does it.
struct SpecialTokens {
  std::optional<TokenEntry> named[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // those of the class, which count if no file lists any
  std::vector<AddedToken> added;       // to be added, in order, to those of tokenizer.json

  std::string_view content(SpecialAttribute attribute) const {
    return named[attribute] ? std::string_view(named[attribute]->token.content) : std::string_view();
  }
};

// `listed` are the tokens that are there already: those of tokenizer.json, or without one those of a SentencePiece model.
Result<SpecialTokens> ResolveSpecialTokens(const TokenizerConfig& config, const TokenizerClass& type, bool has_json,
                                           const std::vector<ListedToken>& listed);
// The tokens alone.
Result<std::vector<AddedToken>> TakeTokens(std::vector<ListedToken> listed);

// Fills cls_id and its like; -1 where no token is named so. With `by_usual_names` a token that is usually called so will do.
void FindSpecialIds(const SpecialTokens& special, bool by_usual_names, Tokenizer::Parts* parts);

}  // namespace peruse::text
