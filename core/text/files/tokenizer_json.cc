#include "core/text/files/tokenizer_json.h"

#include <string>

#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/models/bpe.h"
#include "core/text/models/unigram.h"
#include "core/text/models/word_level.h"
#include "core/text/models/wordpiece.h"
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

namespace {

using Made = Result<std::unique_ptr<Model>>;

Status NoMemory() { return OutOfMemory("no memory for a vocabulary"); }

Status BadModel(const std::string& what) { return MalformedFile("tokenizer: model: " + what); }

Made ParseWordPiece(JsonValue json) {
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ParseVocabularyObject(json.FindMember("vocab")));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  WordPieceOptions options;
  if (const auto unk = json.FindMember("unk_token").GetString()) {
    if (!TryAssign(&options.unk_token, *unk)) return NoMemory();
  }
  if (const auto prefix = json.FindMember("continuing_subword_prefix").GetString()) {
    if (!TryAssign(&options.continuing_subword_prefix, *prefix)) return NoMemory();
  }
  if (const JsonValue limit = json.FindMember("max_input_chars_per_word"); limit.exists()) {
    const std::optional<int64_t> value = limit.GetInt64();
    if (!value || *value < 0) return BadModel("max_input_chars_per_word must be a number from 0 on");
    options.max_input_chars_per_word = *value;
  }
  return std::unique_ptr<Model>(std::make_unique<WordPiece>(std::move(vocabulary), std::move(options)));
}

Made ParseWordLevel(JsonValue json) {
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ParseVocabularyObject(json.FindMember("vocab")));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  PERUSE_ASSIGN_OR_RETURN(std::string unk, CopyText(json.FindMember("unk_token").GetString().value_or("<unk>")));
  return std::unique_ptr<Model>(std::make_unique<WordLevel>(std::move(vocabulary), std::move(unk)));
}

bool ParseMerge(JsonValue json, std::pair<std::string_view, std::string_view>* merge) {
  if (json.IsArray() && json.size() == 2) {
    const auto left = json[0].GetString(), right = json[1].GetString();
    if (!left || !right) return false;
    *merge = {*left, *right};
    return true;
  }
  const std::optional<std::string_view> line = json.GetString();
  if (!line) return false;
  const size_t space = line->find(' ');
  if (space == std::string_view::npos || line->find(' ', space + 1) != std::string_view::npos) return false;
  *merge = {line->substr(0, space), line->substr(space + 1)};
  return true;
}

Made ParseBpe(JsonValue json) {
  if (const auto dropout = json.FindMember("dropout").GetDouble(); dropout.value_or(0) != 0) {
    return Unsupported("tokenizer.json: model BPE with dropout is not supported");
  }
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ParseVocabularyObject(json.FindMember("vocab")));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  const JsonValue items = json.FindMember("merges");
  if (!items.IsArray()) return BadModel("merges is no list");
  BpeMerges merges;
  if (!TryReserve(&merges, items.size())) return NoMemory();
  for (JsonValue item : items) {
    if (const auto line = item.GetString(); line && line->starts_with("#version")) continue;
    merges.emplace_back();
    if (!ParseMerge(item, &merges.back())) return BadModel("malformed merge " + Excerpt(item.ToString()));
  }
  BpeOptions options;
  if (const auto unk = json.FindMember("unk_token").GetString()) {
    options.unk_token.emplace();
    if (!TryAssign(&*options.unk_token, *unk)) return NoMemory();
  }
  const auto assign = [&json](const char* name, std::string* text) {
    return TryAssign(text, json.FindMember(name).GetString().value_or(""));
  };
  if (!assign("continuing_subword_prefix", &options.continuing_subword_prefix) ||
      !assign("end_of_word_suffix", &options.end_of_word_suffix)) {
    return NoMemory();
  }
  options.fuse_unk = json.FindMember("fuse_unk").GetBool().value_or(false);
  options.byte_fallback = json.FindMember("byte_fallback").GetBool().value_or(false);
  options.ignore_merges = json.FindMember("ignore_merges").GetBool().value_or(false);
  PERUSE_ASSIGN_OR_RETURN(auto bpe, Bpe::Create(std::move(vocabulary), merges, std::move(options)));
  return std::unique_ptr<Model>(std::move(bpe));
}

Made ParseUnigram(JsonValue json) {
  const JsonValue items = json.FindMember("vocab");
  if (!items.IsArray()) return BadModel("vocab is no list");
  UnigramPieces pieces;
  if (!TryReserve(&pieces, items.size())) return NoMemory();
  for (JsonValue item : items) {
    const auto piece = item[0].GetString();
    const auto score = item[1].GetDouble();
    if (item.size() != 2 || !piece || !score) return BadModel("malformed piece " + Excerpt(item.ToString()));
    pieces.push_back({*piece, *score});
  }
  int64_t unk_id = -1;
  if (const JsonValue value = json.FindMember("unk_id"); value.exists() && !value.IsNull()) {
    unk_id = value.GetInt64().value_or(-1);
    if (unk_id < 0) return BadModel("unk_id is no id");
  }
  const bool byte_fallback = json.FindMember("byte_fallback").GetBool().value_or(false);
  PERUSE_ASSIGN_OR_RETURN(auto unigram, Unigram::Create(pieces, unk_id, byte_fallback));
  return std::unique_ptr<Model>(std::move(unigram));
}

std::string_view InferType(JsonValue json) {
  if (json.FindMember("merges").exists()) return "BPE";
  if (json.FindMember("vocab").IsArray()) return "Unigram";
  if (json.FindMember("continuing_subword_prefix").exists()) return "WordPiece";
  return "";
}

}  // namespace

Result<VocabularyEntries> ParseVocabularyObject(JsonValue json) {
  if (!json.IsObject()) return BadModel("vocab is not an object");
  VocabularyEntries entries;
  if (!TryReserve(&entries, json.size())) return NoMemory();
  for (size_t i = 0; i < json.size(); ++i) {
    const std::optional<int64_t> id = json.MemberValue(i).GetInt64();
    if (!id || *id < 0 || *id > INT32_MAX) {
      return BadModel("the id of \"" + Excerpt(json.MemberName(i)) + "\" is no id");
    }
    entries.push_back({json.MemberName(i), static_cast<int32_t>(*id)});
  }
  return entries;
}

Made ParseModel(JsonValue json) {
  if (!json.IsObject()) return BadModel("missing");
  const std::string_view type =
      json.FindMember("type").exists() ? json.FindMember("type").GetString().value_or("") : InferType(json);
  if (type == "WordPiece") return ParseWordPiece(json);
  if (type == "BPE") return ParseBpe(json);
  if (type == "Unigram") return ParseUnigram(json);
  if (type == "WordLevel") return ParseWordLevel(json);
  return Unsupported("tokenizer.json: model \"" + Excerpt(type) + "\" is not supported");
}

}  // namespace peruse::text
