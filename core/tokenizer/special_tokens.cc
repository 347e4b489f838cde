#include "core/tokenizer/special_tokens.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace peruse {
namespace {

int32_t FindToken(std::string_view content, const Tokenizer::Parts& parts) {
  const int32_t id = parts.added_tokens.Find(content);
  return id >= 0 ? id : parts.model->vocabulary().Find(content);
}

int32_t FindSpecial(const std::optional<AddedToken>& configured, std::initializer_list<std::string_view> names,
                    const Tokenizer::Parts& parts) {
  if (configured) return FindToken(configured->content, parts);
  for (const std::string_view name : names) {
    const int32_t id = FindToken(name, parts);
    if (id >= 0) return id;
  }
  return -1;
}

}  // namespace

AddedToken SpecialTokenOr(const std::optional<AddedToken>& configured, std::string_view content) {
  if (configured) return *configured;
  AddedToken token;
  token.content = std::string(content);
  token.normalized = false;
  token.special = true;
  return token;
}

Status AddSpecialTokens(const std::vector<AddedToken>& special, const TokenizerConfig& config,
                        Tokenizer::Parts* parts) {
  std::vector<AddedToken> tokens;
  for (const auto& [id, token] : config.added) tokens.push_back(token);
  for (const AddedToken& token : special) {
    const auto same = std::find_if(tokens.begin(), tokens.end(),
                                   [&](const AddedToken& known) { return known.content == token.content; });
    if (same == tokens.end()) tokens.push_back(token);
  }
  PERUSE_ASSIGN_OR_RETURN(parts->added_tokens,
                          AddedTokens::Create(tokens, parts->model->vocabulary(), parts->normalizer.get()));
  return OkStatus();
}

void FindSpecialIds(const TokenizerConfig& config, Tokenizer::Parts* parts) {
  parts->cls_id = FindSpecial(config.special.cls, {"[CLS]", "<s>"}, *parts);
  parts->sep_id = FindSpecial(config.special.sep, {"[SEP]", "</s>"}, *parts);
  parts->mask_id = FindSpecial(config.special.mask, {"[MASK]", "<mask>"}, *parts);
  parts->pad_id = FindSpecial(config.special.pad, {"[PAD]", "<pad>"}, *parts);
  parts->unk_id = parts->model->unk_id();
  if (parts->unk_id < 0) parts->unk_id = FindSpecial(config.special.unk, {"[UNK]", "<unk>"}, *parts);
}

}  // namespace peruse
