#include "core/text/files/tokenizer_config.h"

#include <algorithm>

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

// transformers writes int(1e30) for "unlimited".
constexpr double kNoLimit = 1e9;
constexpr std::string_view kFile = "tokenizer_config.json";

Status NoMemory() { return OutOfMemory("no memory for the special tokens"); }

Status Bad(std::string_view file, std::string_view field, const char* what) {
  return MalformedFile(std::string(file) + ": " + Excerpt(field) + " " + what);
}

Status ReadFlag(JsonValue root, std::string_view name, std::optional<bool>* flag) {
  const JsonValue value = root.FindMember(name);
  if (!value.exists() || value.IsNull()) return OkStatus();
  *flag = value.GetBool();
  return *flag ? OkStatus() : Bad(kFile, name, "is neither true nor false");
}

Status ReadFlag(JsonValue root, std::string_view name, bool* flag) {
  if (root.FindMember(name).IsNull()) return Bad(kFile, name, "is neither true nor false");
  std::optional<bool> value;
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, name, &value));
  *flag = value.value_or(*flag);
  return OkStatus();
}

template <typename Parse>
Result<TokenEntry> ReadToken(JsonValue json, std::string_view file, std::string_view name, const Parse& parse) {
  if (!json.IsString()) {
    if (!json.IsObject()) return Bad(file, name, "is no token");
    return parse(json);
  }
  TokenEntry entry;
  PERUSE_ASSIGN_OR_RETURN(entry.token.content, CopyText(*json.GetString()));
  entry.is_text = true;
  return entry;
}

// Reads a token of tokenizer_config.json. An object states whether it is special.
Result<TokenEntry> ReadConfigToken(JsonValue json, std::string_view name) {
  return ReadToken(json, kFile, name, [&](JsonValue object) -> Result<TokenEntry> {
    if (object.FindMember("__type").GetString() != "AddedToken") {
      return Bad(kFile, name, "is an object without \"__type\": \"AddedToken\"");
    }
    return ParseTokenEntry(object, kFile);
  });
}

// Reads a token of special_tokens_map.json. Every object is special.
Result<TokenEntry> ReadMapToken(JsonValue json, std::string_view name) {
  constexpr std::string_view kMap = "special_tokens_map.json";
  PERUSE_ASSIGN_OR_RETURN(TokenEntry entry,
                          ReadToken(json, kMap, name, [&](JsonValue object) { return ParseTokenEntry(object, kMap); }));
  if (!entry.is_text) entry.SetSpecial(true);
  return entry;
}

using TokenReader = Result<TokenEntry>(JsonValue json, std::string_view name);

Status ReadNamedTokens(JsonValue root, TokenReader* read, NamedToken* special) {
  for (size_t i = 0; i < kSpecialAttributes; ++i) {
    const JsonValue json = root.FindMember(kSpecialNames[i]);
    if (!json.exists()) continue;
    special[i] = {true, std::nullopt};
    if (json.IsNull()) continue;
    PERUSE_ASSIGN_OR_RETURN(special[i].entry, read(json, kSpecialNames[i]));
  }
  return OkStatus();
}

Status ReadAdditional(JsonValue json, TokenReader* read, TokenizerConfig* config) {
  constexpr std::string_view kName = "additional_special_tokens";
  config->has_additional = config->has_additional || json.exists();
  if (!json.exists() || json.IsNull()) return OkStatus();
  if (!json.IsArray()) return Bad(kFile, kName, "is no list");
  for (JsonValue item : json) {
    PERUSE_ASSIGN_OR_RETURN(TokenEntry entry, read(item, kName));
    if (!TryPushBack(&config->additional, std::move(entry))) return NoMemory();
  }
  return OkStatus();
}

// Reads {"image_token": "<image>", ...} of transformers 4, or ["[PAD]", ...] of transformers 5 (its additional_special_tokens).
Status ReadExtra(JsonValue json, std::vector<TokenEntry>* extra) {
  constexpr std::string_view kName = "extra_special_tokens";
  if (!json.exists() || json.IsNull()) return OkStatus();
  if (!json.IsObject() && !json.IsArray()) return Bad(kFile, kName, "is neither a list nor an object");
  for (size_t i = 0; i < json.size(); ++i) {
    PERUSE_ASSIGN_OR_RETURN(TokenEntry entry, ReadConfigToken(json.IsArray() ? json[i] : json.MemberValue(i), kName));
    if (!TryPushBack(extra, std::move(entry))) return NoMemory();
  }
  return OkStatus();
}

// Reads {"128000": {"content": "[MASK]", ...}}.
Status ReadAddedTokensDecoder(JsonValue json, TokenizerConfig* config) {
  if (!json.exists()) return OkStatus();
  if (!json.IsObject()) return Bad(kFile, "added_tokens_decoder", "is not an object");
  config->has_added_tokens = true;
  for (size_t i = 0; i < json.size(); ++i) {
    int64_t id = 0;
    for (const char c : json.MemberName(i)) {
      if (c < '0' || c > '9' || id > INT32_MAX) return Bad(kFile, "added_tokens_decoder", "has a bad id");
      id = id * 10 + (c - '0');
    }
    PERUSE_ASSIGN_OR_RETURN(TokenEntry entry, ParseTokenEntry(json.MemberValue(i), kFile));
    if (!HasMemory()) return NoMemory();
    config->added[id] = std::move(entry);
  }
  return OkStatus();
}

bool IsNamed(std::string_view content, const TokenizerConfig& config) {
  const auto is_it = [content](const TokenEntry& entry) { return entry.token.content == content; };
  return std::any_of(std::begin(config.special), std::end(config.special),
                     [&](const NamedToken& named) { return named.entry && is_it(*named.entry); }) ||
         std::any_of(config.additional.begin(), config.additional.end(), is_it);
}

// Reads {"[MASK]": 128000}.
Status ReadAddedTokensFile(std::string_view bytes, TokenizerConfig* config) {
  constexpr std::string_view kAdded = "added_tokens.json";
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, kAdded));
  const JsonValue root = document.root();
  if (!root.IsObject()) return MalformedFile("added_tokens.json is not an object");
  for (size_t i = 0; i < root.size(); ++i) {
    const std::optional<int64_t> id = root.MemberValue(i).GetInt64();
    if (!id || *id < 0 || *id > INT32_MAX) return MalformedFile("added_tokens.json: bad id");
    TokenEntry entry;
    PERUSE_ASSIGN_OR_RETURN(entry.token.content, CopyText(root.MemberName(i)));
    entry.SetSpecial(IsNamed(entry.token.content, *config));
    if (!HasMemory()) return NoMemory();
    config->added[*id] = std::move(entry);
  }
  return OkStatus();
}

Status ReadLimit(JsonValue root, TokenizerConfig* config) {
  const JsonValue newer = root.FindMember("model_max_length");
  const std::optional<double> limit = (newer.exists() ? newer : root.FindMember("max_len")).GetDouble();
  if (limit && *limit > 0 && *limit <= kNoLimit) config->model_max_length = static_cast<int64_t>(*limit);
  return OkStatus();
}

Status ReadTruncationSide(JsonValue root, TokenizerConfig* config) {
  const JsonValue side = root.FindMember("truncation_side");
  if (!side.exists()) return OkStatus();
  const std::string_view name = side.GetString().value_or("");
  if (name != "left" && name != "right") return Bad(kFile, "truncation_side", "is neither \"left\" nor \"right\"");
  config->truncation_side = name == "left" ? TruncationSide::kLeft : TruncationSide::kRight;
  return OkStatus();
}

Status ReadInputNames(JsonValue root, TokenizerConfig* config) {
  const JsonValue names = root.FindMember("model_input_names");
  if (!names.exists()) return OkStatus();
  if (!names.IsArray()) return Bad(kFile, "model_input_names", "is no list");
  config->has_type_ids = false;
  for (JsonValue name : names) config->has_type_ids = *config->has_type_ids || name.GetString() == "token_type_ids";
  return OkStatus();
}

Status ReadFlags(JsonValue root, TokenizerConfig* config) {
  if (root.FindMember("do_lower_case").IsNull()) return Bad(kFile, "do_lower_case", "is neither true nor false");
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "do_lower_case", &config->lowercase));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "strip_accents", &config->strip_accents));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "tokenize_chinese_chars", &config->handle_chinese_chars));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "split_by_punct", &config->split_by_punct));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "trim_offsets", &config->trim_offsets));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "clean_up_tokenization_spaces", &config->clean_up_spaces));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "split_special_tokens", &config->split_special_tokens));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "add_bos_token", &config->add_bos_token));
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "add_eos_token", &config->add_eos_token));
  if (const auto side = root.FindMember("padding_side").GetString()) config->pads_left = *side == "left";
  config->keeps_template = root.FindMember("backend").GetString() == "tokenizers";
  std::optional<bool> prefix;
  PERUSE_RETURN_IF_ERROR(ReadFlag(root, "add_prefix_space", &prefix));
  config->given_prefix_space = prefix;
  config->add_prefix_space = prefix.value_or(false);
  config->has_add_prefix_space = prefix || !root.FindMember("add_prefix_space").exists();
  return OkStatus();
}

Status ReadConfigFile(std::string_view bytes, TokenizerConfig* config) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, kFile));
  const JsonValue root = document.root();
  if (!root.IsObject()) return MalformedFile("tokenizer_config.json is not an object");
  config->has_file = true;
  PERUSE_ASSIGN_OR_RETURN(config->tokenizer_class,
                          CopyText(root.FindMember("tokenizer_class").GetString().value_or("")));
  config->has_own_code = HasOwnCode(root);
  PERUSE_RETURN_IF_ERROR(ReadLimit(root, config));
  PERUSE_RETURN_IF_ERROR(ReadTruncationSide(root, config));
  PERUSE_RETURN_IF_ERROR(ReadInputNames(root, config));
  PERUSE_RETURN_IF_ERROR(ReadFlags(root, config));
  PERUSE_RETURN_IF_ERROR(ReadAddedTokensDecoder(root.FindMember("added_tokens_decoder"), config));
  PERUSE_RETURN_IF_ERROR(ReadNamedTokens(root, ReadConfigToken, config->special));
  PERUSE_RETURN_IF_ERROR(ReadAdditional(root.FindMember("additional_special_tokens"), ReadConfigToken, config));
  const JsonValue extra = root.FindMember("extra_special_tokens");
  config->has_additional = config->has_additional || extra.IsArray();
  return ReadExtra(extra, &config->extra);
}

}  // namespace

bool HasOwnCode(JsonValue root) {
  const JsonValue map = root.FindMember("auto_map");
  const JsonValue code = map.IsArray() ? map : map.FindMember("AutoTokenizer");
  return code.exists() && !code.IsNull();
}

BertNormalizerOptions BertOptions(const TokenizerConfig& config) {
  BertNormalizerOptions options;
  options.lowercase = config.lowercase.value_or(true);
  options.strip_accents = config.strip_accents;
  options.handle_chinese_chars = config.handle_chinese_chars;
  return options;
}

Result<TokenEntry> ParseTokenEntry(JsonValue json, std::string_view name) {
  const std::optional<std::string_view> content = json.FindMember("content").GetString();
  if (!content)
    return MalformedFile(std::string(name) + ": an added token has no content: " + Excerpt(json.ToString()));
  TokenEntry entry;
  PERUSE_ASSIGN_OR_RETURN(entry.token.content, CopyText(*content));
  const auto read = [&](const char* flag, bool* value) {
    const JsonValue member = json.FindMember(flag);
    if (member.exists()) *value = member.GetBool().value_or(false);
    return !member.exists() || member.GetBool();
  };
  bool special = false;
  if (!read("single_word", &entry.token.single_word) || !read("lstrip", &entry.token.lstrip) ||
      !read("rstrip", &entry.token.rstrip) || !read("special", &special) ||
      !read("normalized", &entry.token.normalized)) {
    return MalformedFile(std::string(name) + ": a flag of the added token \"" + Excerpt(*content) +
                         "\" is neither true nor false");
  }
  entry.has_normalized = json.FindMember("normalized").exists();
  entry.SetSpecial(special);
  return entry;
}

Result<TokenizerConfig> ReadTokenizerConfig(const TokenizerFiles& files) {
  TokenizerConfig config;
  if (const auto file = files.find("tokenizer_config.json"); file != files.end()) {
    PERUSE_RETURN_IF_ERROR(ReadConfigFile(file->second, &config));
  }
  if (config.has_added_tokens) return config;
  if (const auto file = files.find("special_tokens_map.json"); file != files.end()) {
    PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(file->second, "special_tokens_map.json"));
    PERUSE_RETURN_IF_ERROR(ReadNamedTokens(document.root(), ReadMapToken, config.special));
    PERUSE_RETURN_IF_ERROR(
        ReadAdditional(document.root().FindMember("additional_special_tokens"), ReadMapToken, &config));
  }
  if (const auto file = files.find("added_tokens.json"); file != files.end()) {
    PERUSE_RETURN_IF_ERROR(ReadAddedTokensFile(file->second, &config));
  }
  return config;
}

}  // namespace peruse::text
