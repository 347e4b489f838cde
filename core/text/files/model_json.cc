#include "core/text/files/model_json.h"

#include <string>

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/models/bpe.h"
#include "core/text/models/unigram.h"
#include "core/text/models/word_level.h"
#include "core/text/models/wordpiece.h"

namespace peruse::text {
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
