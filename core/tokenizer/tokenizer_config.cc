#include "core/tokenizer/tokenizer_config.h"

#include <algorithm>

namespace peruse {
namespace {

// transformers writes int(1e30) for "no limit".
constexpr double kNoLimit = 1e9;

// A special token is a plain string, or an object as in added_tokens.
Status ReadSpecialToken(JsonValue json, std::optional<AddedToken>* token) {
  if (!json.exists() || json.IsNull()) return OkStatus();
  AddedToken parsed;
  if (json.IsString()) {
    parsed.content = std::string(*json.GetString());
  } else {
    PERUSE_ASSIGN_OR_RETURN(parsed, ParseAddedToken(json));
  }
  parsed.special = true;
  parsed.normalized = false;
  *token = std::move(parsed);
  return OkStatus();
}

Status ReadSpecialTokens(JsonValue json, SpecialTokens* special) {
  PERUSE_RETURN_IF_ERROR(ReadSpecialToken(json.FindMember("cls_token"), &special->cls));
  PERUSE_RETURN_IF_ERROR(ReadSpecialToken(json.FindMember("sep_token"), &special->sep));
  PERUSE_RETURN_IF_ERROR(ReadSpecialToken(json.FindMember("mask_token"), &special->mask));
  PERUSE_RETURN_IF_ERROR(ReadSpecialToken(json.FindMember("pad_token"), &special->pad));
  return ReadSpecialToken(json.FindMember("unk_token"), &special->unk);
}

// {"128000": {"content": "[MASK]", ...}}
Status ReadAddedTokensDecoder(JsonValue json, TokenizerConfig* config) {
  for (size_t i = 0; json.IsObject() && i < json.size(); ++i) {
    int64_t id = 0;
    for (const char c : json.MemberName(i)) {
      if (c < '0' || c > '9' || id > INT32_MAX)
        return MalformedFile("tokenizer_config.json: bad id in added_tokens_decoder");
      id = id * 10 + (c - '0');
    }
    PERUSE_ASSIGN_OR_RETURN(AddedToken token, ParseAddedToken(json.MemberValue(i)));
    config->added.push_back({id, std::move(token)});
  }
  return OkStatus();
}

// {"[MASK]": 128000}
Status ReadAddedTokensFile(std::string_view bytes, TokenizerConfig* config) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, "added_tokens.json"));
  const JsonValue root = document.root();
  if (!root.IsObject()) return MalformedFile("added_tokens.json is no object");
  for (size_t i = 0; i < root.size(); ++i) {
    const std::optional<int64_t> id = root.MemberValue(i).GetInt64();
    if (!id || *id < 0 || *id > INT32_MAX) return MalformedFile("added_tokens.json: bad id");
    AddedToken token;
    token.content = std::string(root.MemberName(i));
    config->added.push_back({*id, std::move(token)});
  }
  return OkStatus();
}

Status ReadConfigFile(std::string_view bytes, TokenizerConfig* config) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, "tokenizer_config.json"));
  const JsonValue root = document.root();
  if (!root.IsObject()) return MalformedFile("tokenizer_config.json is no object");
  config->tokenizer_class = std::string(root.FindMember("tokenizer_class").GetString().value_or(""));
  const std::optional<double> max_length = root.FindMember("model_max_length").GetDouble();
  if (max_length && *max_length > 0 && *max_length <= kNoLimit) {
    config->model_max_length = static_cast<int64_t>(*max_length);
  }
  if (root.FindMember("truncation_side").GetString() == "left") config->truncation_side = TruncationSide::kLeft;
  config->normalizer.lowercase = root.FindMember("do_lower_case").GetBool();
  config->normalizer.strip_accents = root.FindMember("strip_accents").GetBool();
  config->normalizer.handle_chinese_chars = root.FindMember("tokenize_chinese_chars").GetBool();
  config->add_prefix_space = root.FindMember("add_prefix_space").GetBool();
  config->split_by_punct = root.FindMember("split_by_punct").GetBool().value_or(false);
  config->clean_up_spaces = root.FindMember("clean_up_tokenization_spaces").GetBool().value_or(false);
  PERUSE_RETURN_IF_ERROR(ReadAddedTokensDecoder(root.FindMember("added_tokens_decoder"), config));
  return ReadSpecialTokens(root, &config->special);
}

}  // namespace

Result<AddedToken> ParseAddedToken(JsonValue json) {
  const std::optional<std::string_view> content = json.FindMember("content").GetString();
  if (!content) return MalformedFile("an added token has no content: " + json.ToString().substr(0, 200));
  AddedToken token;
  token.content = std::string(*content);
  token.single_word = json.FindMember("single_word").GetBool().value_or(false);
  token.lstrip = json.FindMember("lstrip").GetBool().value_or(false);
  token.rstrip = json.FindMember("rstrip").GetBool().value_or(false);
  token.special = json.FindMember("special").GetBool().value_or(false);
  token.normalized = json.FindMember("normalized").GetBool().value_or(!token.special);
  return token;
}

Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files) {
  TokenizerConfig config;
  if (const auto file = files.find("special_tokens_map.json"); file != files.end()) {
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file->second, "special_tokens_map.json"));
    PERUSE_RETURN_IF_ERROR(ReadSpecialTokens(document.root(), &config.special));
  }
  if (const auto file = files.find("tokenizer_config.json"); file != files.end()) {
    PERUSE_RETURN_IF_ERROR(ReadConfigFile(file->second, &config));
  }
  if (const auto file = files.find("added_tokens.json"); file != files.end() && config.added.empty()) {
    PERUSE_RETURN_IF_ERROR(ReadAddedTokensFile(file->second, &config));
  }
  std::stable_sort(config.added.begin(), config.added.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return config;
}

}  // namespace peruse
