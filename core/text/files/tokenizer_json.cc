#include "core/text/files/tokenizer_json.h"

#include <string>

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/files/model_json.h"
#include "core/text/normalizers/bert_normalizer.h"

namespace peruse::text {
namespace {

Result<std::vector<ListedToken>> ParseAddedTokens(JsonValue json) {
  std::vector<ListedToken> tokens;
  if (!json.exists() || json.IsNull()) return tokens;
  if (!json.IsArray()) return MalformedFile("tokenizer.json: added_tokens is not a list");
  for (JsonValue item : json) {
    ListedToken token{item.FindMember("id").GetInt64().value_or(-1), {}};
    PERUSE_ASSIGN_OR_RETURN(token.entry, ParseTokenEntry(item, "tokenizer.json"));
    if (!TryPushBack(&tokens, std::move(token))) return OutOfMemory("no memory for added_tokens");
  }
  return tokens;
}

// BERT's tokenizer classes override the three flags of a BertNormalizer that is not part of a Sequence. Added tokens have already been
// normalised with the file's flags.
void SetNormalizer(JsonValue json, const TokenizerConfig& config, const TokenizerClass& type,
                   std::unique_ptr<Normalizer>* normalizer) {
  if (!type.sets_normalizer) return;
  if (json.FindMember("type").GetString() != "BertNormalizer") return;
  BertNormalizerOptions options = BertOptions(config);
  options.clean_text = ParseBertOptions(json).clean_text;
  *normalizer = std::make_unique<BertNormalizer>(options);
}

// RobertaTokenizerFast and similar classes override the flags for trimming offsets.
void SetTrimming(JsonValue json, const TokenizerConfig& config, OffsetTrimming* trimming) {
  if (!json.FindMember("trim_offsets").exists()) return;
  trimming->enabled = config.trim_offsets;
  trimming->add_prefix_space = config.add_prefix_space;
}

bool AddsPrefix(JsonValue stage) {
  const std::string_view type = stage.FindMember("type").GetString().value_or("");
  if (type == "Prepend") return true;
  if (type == "Metaspace") return stage.FindMember("prepend_scheme").GetString() != "never";
  for (const char* steps : {"normalizers", "pretokenizers"}) {
    for (JsonValue step : stage.FindMember(steps)) {
      if (step.FindMember("type").GetString() != "Sequence" && AddsPrefix(step)) return true;
    }
  }
  return false;
}

// With add_prefix_space, LlamaTokenizerFast ignores tokenizer.json and converts tokenizer.model instead. Accepts the flag if tokenizer.json
// has the same effect.
Status CheckPrefix(JsonValue root, const TokenizerConfig& config, const TokenizerClass& type) {
  if (type.name != "LlamaTokenizer" || !config.given_prefix_space) return OkStatus();
  const bool adds = AddsPrefix(root.FindMember("normalizer")) || AddsPrefix(root.FindMember("pre_tokenizer"));
  if (adds == *config.given_prefix_space) return OkStatus();
  return Unsupported("tokenizer_config.json: add_prefix_space contradicts tokenizer.json");
}

Status ReadStages(JsonValue root, const TokenizerConfig& config, const TokenizerClass& type, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(parts->model, ParseModel(root.FindMember("model")));
  PERUSE_ASSIGN_OR_RETURN(parts->normalizer, ParseNormalizer(root.FindMember("normalizer")));
  // Every class sets add_prefix_space of a ByteLevel pre-tokenizer that is not part of a Sequence; the default is false.
  std::optional<bool> prefix;
  if (config.has_add_prefix_space) prefix = config.add_prefix_space;
  PERUSE_ASSIGN_OR_RETURN(parts->pre_tokenizer, ParsePreTokenizer(root.FindMember("pre_tokenizer"), prefix));
  PERUSE_ASSIGN_OR_RETURN(parts->post_processor, ParsePostProcessor(root.FindMember("post_processor")));
  if (type.sets_trimming) SetTrimming(root.FindMember("post_processor"), config, &parts->post_processor.trimming);
  PERUSE_ASSIGN_OR_RETURN(parts->decoder, ParseDecoder(root.FindMember("decoder")));
  return OkStatus();
}

}  // namespace

Status ReadTokenizerJson(std::string_view bytes, const TokenizerConfig& config, const TokenizerClass& type,
                         SpecialTokens* special, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, "tokenizer.json"));
  const JsonValue root = document.root();
  if (!root.IsObject()) return MalformedFile("tokenizer.json is not an object");
  const JsonValue version = root.FindMember("version");
  if (version.exists() && version.GetString() != "1.0") {
    return Unsupported("tokenizer.json: version " + Excerpt(version.ToString()) + " is not supported");
  }
  PERUSE_RETURN_IF_ERROR(CheckPrefix(root, config, type));
  PERUSE_RETURN_IF_ERROR(ReadStages(root, config, type, parts));
  if (root.FindMember("truncation").FindMember("direction").GetString() == "Left") {
    parts->truncation_side = TruncationSide::kLeft;
  }
  PERUSE_ASSIGN_OR_RETURN(std::vector<ListedToken> listed, ParseAddedTokens(root.FindMember("added_tokens")));
  PERUSE_ASSIGN_OR_RETURN(*special, ResolveSpecialTokens(config, type, true, listed));
  PERUSE_ASSIGN_OR_RETURN(std::vector<AddedToken> tokens, TakeTokens(std::move(listed)));
  PERUSE_ASSIGN_OR_RETURN(parts->added_tokens,
                          AddedTokens::Create(std::move(tokens), std::move(special->added), parts->model->vocabulary(),
                                              parts->normalizer.get()));
  SetNormalizer(root.FindMember("normalizer"), config, type, &parts->normalizer);
  return OkStatus();
}

}  // namespace peruse::text
