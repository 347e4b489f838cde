#include "core/tokenizer/model_json.h"

#include <string>

#include "core/tokenizer/wordpiece.h"

namespace peruse {
namespace {

using Made = Result<std::unique_ptr<Model>>;

Status BadModel(const std::string& what) { return MalformedFile("tokenizer.json: model: " + what); }

// {"token": id, ...}
Result<VocabularyEntries> ParseVocabularyObject(JsonValue json) {
  if (!json.IsObject()) return BadModel("vocab is no object");
  VocabularyEntries entries;
  entries.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const std::optional<int64_t> id = json.MemberValue(i).GetInt64();
    if (!id || *id < 0 || *id > INT32_MAX) {
      return BadModel("the id of \"" + std::string(json.MemberName(i)) + "\" is no id");
    }
    entries.push_back({json.MemberName(i), static_cast<int32_t>(*id)});
  }
  return entries;
}

Made ParseWordPiece(JsonValue json) {
  PERUSE_ASSIGN_OR_RETURN(const VocabularyEntries entries, ParseVocabularyObject(json.FindMember("vocab")));
  PERUSE_ASSIGN_OR_RETURN(Vocabulary vocabulary, Vocabulary::Create(entries));
  WordPieceOptions options;
  if (const auto unk = json.FindMember("unk_token").GetString()) options.unk_token = std::string(*unk);
  if (const auto prefix = json.FindMember("continuing_subword_prefix").GetString()) {
    options.continuing_subword_prefix = std::string(*prefix);
  }
  if (const JsonValue limit = json.FindMember("max_input_chars_per_word"); limit.exists()) {
    const std::optional<int64_t> value = limit.GetInt64();
    if (!value || *value < 0) return BadModel("max_input_chars_per_word is no count");
    options.max_input_chars_per_word = *value;
  }
  return std::unique_ptr<Model>(std::make_unique<WordPiece>(std::move(vocabulary), std::move(options)));
}

// The kind of a model without "type".
std::string_view InferType(JsonValue json) {
  if (json.FindMember("merges").exists()) return "BPE";
  if (json.FindMember("vocab").IsArray()) return "Unigram";
  if (json.FindMember("continuing_subword_prefix").exists()) return "WordPiece";
  return "";
}

}  // namespace

Made ParseModel(JsonValue json) {
  if (!json.IsObject()) return BadModel("missing");
  const std::string_view type = json.FindMember("type").exists() ? json.FindMember("type").GetString().value_or("")
                                                                 : InferType(json);
  if (type == "WordPiece") return ParseWordPiece(json);
  return Unsupported("tokenizer.json: model \"" + std::string(type) + "\" is not supported");
}

}  // namespace peruse
