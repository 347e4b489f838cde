#include "core/text/files/special_tokens.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/base/memory.h"

namespace peruse::text {
namespace {

Status NoMemory() { return OutOfMemory("no memory for the special tokens"); }

using ByContent = std::map<std::string_view, const AddedToken*>;

bool IsSame(const AddedToken& a, const AddedToken& b) {
  return a.content == b.content && a.single_word == b.single_word && a.lstrip == b.lstrip && a.rstrip == b.rstrip &&
         a.normalized == b.normalized && a.special == b.special;
}

const TokenEntry* FindContent(const TokensById& tokens, std::string_view content) {
  const TokenEntry* found = nullptr;
  for (const auto& [id, entry] : tokens) {
    if (entry.token.content == content) found = &entry;
  }
  return found;
}

// Completes a token that the files give as a plain string: sets the flags that the tokenizer class, or without tokenizer.json transformers'
// slow tokenizer, gives it.
Status FillIn(const TokenizerClass& type, bool has_json, size_t attribute, std::optional<TokenEntry>* entry) {
  if (!entry->has_value()) return OkStatus();
  AddedToken& token = (*entry)->token;
  if (!(*entry)->is_text) return OkStatus();
  const bool is_mask = attribute == kMaskToken;
  if (is_mask && type.mask_takes_space) {
    token.lstrip = true;
    (*entry)->is_text = false;
  } else if (!has_json && type.files == VocabularyFiles::kByteLevel) {
    token.lstrip = is_mask;
    (*entry)->is_text = false;
    (*entry)->SetSpecial(!is_mask && !type.sets_trimming);
  } else if (!has_json && type.files == VocabularyFiles::kSentencePiece && attribute == kUnkToken) {
    (*entry)->is_text = false;
    (*entry)->has_normalized = true;
    token.normalized = true;
    token.special = true;
  }
  return OkStatus();
}

// Finds each attribute's token in the files, with the flags of a listed token of equal content; otherwise uses the class's default.
Status NameTokens(const TokenizerConfig& config, const TokenizerClass& type, const TokensById& known, bool has_json,
                  SpecialTokens* special) {
  for (size_t i = 0; i < kSpecialAttributes; ++i) {
    const NamedToken& named = config.special[i];
    std::optional<TokenEntry>& entry = special->named[i];
    if (named.is_given) {
      if (!named.entry) continue;
      if (!HasMemory(named.entry->token.content.size())) return NoMemory();
      const TokenEntry* listed = FindContent(known, named.entry->token.content);
      entry = listed != nullptr ? *listed : *named.entry;
    } else if (!type.special[i].empty()) {
      entry.emplace();
      PERUSE_ASSIGN_OR_RETURN(entry->token.content, CopyText(type.special[i]));
      entry->is_text = true;
    }
    PERUSE_RETURN_IF_ERROR(FillIn(type, has_json, i, &entry));
  }
  for (const std::string_view content : type.additional) {
    if (content.empty()) break;
    TokenEntry entry;
    PERUSE_ASSIGN_OR_RETURN(entry.token.content, CopyText(content));
    entry.is_text = true;
    if (!TryPushBack(&special->additional, std::move(entry))) return NoMemory();
  }
  return OkStatus();
}

Result<std::vector<const TokenEntry*>> AllSpecial(const TokenizerConfig& config, const SpecialTokens& special) {
  std::vector<const TokenEntry*> all;
  ByContent seen;
  const auto add = [&](const TokenEntry& entry) {
    const AddedToken*& first = seen[entry.token.content];
    if (entry.token.content.empty() || first != nullptr) return true;
    first = &entry.token;
    return TryPushBack(&all, &entry);
  };
  for (const std::optional<TokenEntry>& entry : special.named) {
    if (entry && !add(*entry)) return NoMemory();
  }
  for (const TokenEntry& entry : config.has_additional ? config.additional : special.additional) {
    if (!add(entry)) return NoMemory();
  }
  for (const TokenEntry& entry : config.extra) {
    if (!add(entry)) return NoMemory();
  }
  return all;
}

// Collects the tokens to add, like transformers' PreTrainedTokenizerFast.__init__: first tokens with an id that the tokenizer lacks or has
// with other flags, then missing special tokens. A special token with flags is added again, so that its flags count.
Status CollectAdded(const TokenizerConfig& config, const TokensById& known, const std::vector<ListedToken>& listed,
                    SpecialTokens* special) {
  ByContent present, specials, contents;
  for (const ListedToken& token : listed) {
    if (!HasMemory()) return NoMemory();
    present[token.entry.token.content] = &token.entry.token;
  }
  PERUSE_ASSIGN_OR_RETURN(const std::vector<const TokenEntry*> all, AllSpecial(config, *special));
  for (const TokenEntry* entry : all) {
    if (!HasMemory()) return NoMemory();
    specials[entry->token.content] = &entry->token;
  }

  std::vector<TokenEntry> added;
  const auto add = [&](const TokenEntry& entry) {
    return HasMemory(entry.token.content.size()) && TryPushBack(&added, entry);
  };
  for (const auto& [id, entry] : known) {
    const auto same = present.find(entry.token.content);
    if (same != present.end() && IsSame(*same->second, entry.token)) continue;
    if (!add(entry)) return NoMemory();
    contents[entry.token.content] = &entry.token;
  }
  for (const TokenEntry* entry : all) {
    const std::string_view content = entry->token.content;
    if (entry->is_text && (present.contains(content) || contents.contains(content))) continue;
    if (!add(*entry)) return NoMemory();
  }
  if (!TryReserve(&special->added, added.size())) return NoMemory();
  for (TokenEntry& entry : added) {
    entry.SetSpecial(entry.token.special || specials.contains(entry.token.content));
    special->added.push_back(std::move(entry.token));
  }
  return OkStatus();
}

int32_t FindToken(std::string_view content, const Tokenizer::Parts& parts) {
  if (content.empty()) return -1;
  const int32_t id = parts.added_tokens.Find(content);
  return id >= 0 ? id : parts.model->vocabulary().Find(content);
}

}  // namespace

Result<SpecialTokens> ResolveSpecialTokens(const TokenizerConfig& config, const TokenizerClass& type, bool has_json,
                                           const std::vector<ListedToken>& listed) {
  // Tokens come from added_tokens_decoder, if it exists, otherwise from added_tokens.json and tokenizer.json.
  TokensById known;
  for (const auto& [id, entry] : config.added) {
    if (!HasMemory(entry.token.content.size())) return NoMemory();
    known[id] = entry;
  }
  TokensById with_flags = config.has_added_tokens ? known : TokensById();
  for (const ListedToken& token : listed) {
    if (!has_json || config.has_added_tokens) break;
    if (!HasMemory(2 * token.entry.token.content.size())) return NoMemory();
    known[token.id] = with_flags[token.id] = token.entry;
  }
  SpecialTokens special;
  PERUSE_RETURN_IF_ERROR(NameTokens(config, type, with_flags, has_json, &special));
  PERUSE_RETURN_IF_ERROR(CollectAdded(config, known, listed, &special));
  return special;
}

Result<std::vector<AddedToken>> TakeTokens(std::vector<ListedToken> listed) {
  std::vector<AddedToken> tokens;
  if (!TryReserve(&tokens, listed.size())) return NoMemory();
  for (ListedToken& token : listed) tokens.push_back(std::move(token.entry.token));
  return tokens;
}

void FindSpecialIds(const SpecialTokens& special, bool by_usual_names, Tokenizer::Parts* parts) {
  const auto find = [&](SpecialAttribute attribute, std::string_view usual, std::string_view other) {
    int32_t id = FindToken(special.content(attribute), *parts);
    if (id < 0 && by_usual_names) id = FindToken(usual, *parts);
    return id < 0 && by_usual_names ? FindToken(other, *parts) : id;
  };
  parts->cls_id = find(kClsToken, "[CLS]", "<s>");
  parts->sep_id = find(kSepToken, "[SEP]", "</s>");
  parts->mask_id = find(kMaskToken, "[MASK]", "<mask>");
  parts->pad_id = find(kPadToken, "[PAD]", "<pad>");
  parts->unk_id = find(kUnkToken, "[UNK]", "<unk>");
  parts->eos_id = find(kEosToken, "</s>", "<eos>");
}

}  // namespace peruse::text
