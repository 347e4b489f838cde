#pragma once

#include <string_view>
#include <vector>

#include "core/text/files/tokenizer_class.h"
#include "core/text/files/tokenizer_config.h"
#include "core/text/files/tokenizer_parts.h"

namespace peruse::text {

// A token of added_tokens in tokenizer.json, with the file's id, which may differ from its final id.
struct ListedToken {
  int64_t id;
  TokenEntry entry;
};

// Special tokens from the configuration and the tokenizer class, resolved like transformers' PreTrainedTokenizerFast.
struct SpecialTokens {
  std::optional<TokenEntry> named[kSpecialAttributes];
  std::vector<TokenEntry> additional;  // additional special tokens of the class, if no file lists any
  std::vector<AddedToken> added;       // tokens to add after those of tokenizer.json, in this order

  std::string_view content(SpecialAttribute attribute) const {
    return named[attribute] ? std::string_view(named[attribute]->token.content) : std::string_view();
  }
};

// `listed` are the tokens that already exist, in tokenizer.json or a SentencePiece model.
Result<SpecialTokens> ResolveSpecialTokens(const TokenizerConfig& config, const TokenizerClass& type, bool has_json,
                                           const std::vector<ListedToken>& listed);
Result<std::vector<AddedToken>> TakeTokens(std::vector<ListedToken> listed);

// Sets cls_id and the ids of other roles; -1 if no token has the role. `by_usual_names` also accepts tokens with usual names such as
// "[CLS]".
void FindSpecialIds(const SpecialTokens& special, bool by_usual_names, Tokenizer::Parts* parts);

}  // namespace peruse::text
