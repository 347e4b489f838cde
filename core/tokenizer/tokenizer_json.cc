#include "core/tokenizer/tokenizer_json.h"

#include <string>

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/tokenizer/model_json.h"

namespace peruse {
namespace {

Result<std::vector<AddedToken>> ParseAddedTokens(JsonValue json) {
  std::vector<AddedToken> tokens;
  if (!json.exists() || json.IsNull()) return tokens;
  if (!json.IsArray()) return MalformedFile("tokenizer.json: added_tokens is no list");
  for (JsonValue item : json) {
    PERUSE_ASSIGN_OR_RETURN(AddedToken token, ParseAddedToken(item));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

Status ReadTokenizerJson(std::string_view bytes, const TokenizerConfig& config, Tokenizer::Parts* parts) {
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(bytes, "tokenizer.json"));
  const JsonValue root = document.root();
  // For everything but the vocabulary, which makes sure itself: a charsmap is decoded into two parts.
  PERUSE_RETURN_IF_ERROR(EnsureMemory(3 * bytes.size(), "tokenizer.json"));
  if (!root.IsObject()) return MalformedFile("tokenizer.json is no object");
  const JsonValue version = root.FindMember("version");
  if (version.exists() && version.GetString() != "1.0") {
    return Unsupported("tokenizer.json: version " + version.ToString() + " is not supported");
  }
  PERUSE_ASSIGN_OR_RETURN(parts->model, ParseModel(root.FindMember("model")));
  PERUSE_ASSIGN_OR_RETURN(parts->normalizer, ParseNormalizer(root.FindMember("normalizer"), config.normalizer));
  PERUSE_ASSIGN_OR_RETURN(parts->pre_tokenizer,
                          ParsePreTokenizer(root.FindMember("pre_tokenizer"), config.add_prefix_space));
  PERUSE_ASSIGN_OR_RETURN(parts->post_processor, ParsePostProcessor(root.FindMember("post_processor")));
  PERUSE_ASSIGN_OR_RETURN(parts->decoder, ParseDecoder(root.FindMember("decoder")));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<AddedToken> tokens, ParseAddedTokens(root.FindMember("added_tokens")));
  PERUSE_ASSIGN_OR_RETURN(parts->added_tokens,
                          AddedTokens::Create(tokens, parts->model->vocabulary(), parts->normalizer.get()));
  return OkStatus();
}

}  // namespace peruse
