// Special tokens: tokens that a class adds to those of tokenizer.json, and their roles.
#pragma once

#include <string_view>
#include <vector>

#include "core/text/tokenizer_class.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_parts.h"

namespace peruse::text {

// A token of tokenizer.json's added_tokens with the file's id, which may differ from its final id.
struct ListedToken {
  int64_t id;
  TokenEntry entry;
};

// Special tokens from the configuration and the class, resolved as in PreTrainedTokenizerFast.
struct SpecialTokens {
  std::optional<TokenEntry> named[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // the class's, if no file lists any
  std::vector<AddedToken> added;       // to add, in order, after those of tokenizer.json

  std::string_view content(SpecialAttribute attribute) const {
    return named[attribute] ? std::string_view(named[attribute]->token.content) : std::string_view();
  }
};

// `listed` are the tokens that already exist: those of tokenizer.json, or of a SentencePiece model.
Result<SpecialTokens> ResolveSpecialTokens(const TokenizerConfig& config, const TokenizerClass& type, bool has_json,
                                           const std::vector<ListedToken>& listed);
Result<std::vector<AddedToken>> TakeTokens(std::vector<ListedToken> listed);

// Fills cls_id and the other role ids; -1 if no token has the role. With `by_usual_names`, tokens with the usual names count too.
void FindSpecialIds(const SpecialTokens& special, bool by_usual_names, Tokenizer::Parts* parts);

}  // namespace peruse::text
