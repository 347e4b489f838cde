#include "core/api/tokenizer_session.h"

#include <limits>
#include <utility>

#include "core/api/option_reader.h"
#include "core/base/json.h"
#include "core/base/json_writer.h"
#include "core/base/memory.h"
#include "core/tasks/text_span.h"

namespace peruse {
namespace {

constexpr std::string_view kRequest = "the request";

Result<std::vector<int32_t>> ReadIds(const JsonDocument& document) {
  const JsonValue list = document.root().FindMember("ids");
  std::vector<int32_t> ids;
  if (!list.IsArray() || !TryReserve(&ids, list.size())) return InvalidArgument("ids must be a list of token ids");
  for (const JsonValue item : list) {
    const std::optional<int64_t> id = item.GetInt64();
    if (!id || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("ids must be a list of token ids, and " + item.ToString() + " is none");
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

Result<std::string> Written(const JsonWriter& writer, std::string json) {
  if (writer.failed()) return OutOfMemory("no memory for the results");
  return json;
}

}  // namespace

Status TokenizerSession::AddFile(std::string_view name, std::string_view bytes) {
  PERUSE_RETURN_IF_ERROR(HoldReserve());
  PERUSE_RETURN_IF_ERROR(EnsureMemory(bytes.size(), name));
  if (tokenizer_ != nullptr) return InvalidArgument("addFile was called after open");
  files_[std::string(name)] = std::string(bytes);
  return OkStatus();
}

Result<std::string> TokenizerSession::Open() {
  PERUSE_RETURN_IF_ERROR(HoldReserve());
  text::TokenizerFiles files;
  for (const auto& [name, bytes] : files_) files.emplace(name, bytes);
  PERUSE_ASSIGN_OR_RETURN(tokenizer_, text::Tokenizer::Create(files));
  const int64_t max_length = tokenizer_->model_max_length().value_or(0);
  if (max_length > 0 && max_length <= std::numeric_limits<int32_t>::max()) {
    max_length_ = static_cast<int32_t>(max_length);
  }
  files_.clear();

  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  writer.Key("vocab_size");
  writer.Int(tokenizer_->vocab_size());
  writer.Key("max_length");
  if (max_length_) {
    writer.Int(*max_length_);
  } else {
    writer.Null();
  }
  writer.Key("special_tokens");
  writer.BeginObject();
  const std::pair<std::string_view, int32_t> special[] = {{"cls_token", tokenizer_->cls_id()},
                                                          {"sep_token", tokenizer_->sep_id()},
                                                          {"mask_token", tokenizer_->mask_id()},
                                                          {"pad_token", tokenizer_->pad_id()},
                                                          {"unk_token", tokenizer_->unk_id()}};
  for (const auto& [name, id] : special) {
    const Result<std::string> token = tokenizer_->IdToToken(id);
    if (!token.ok()) continue;
    writer.Key(name);
    writer.BeginObject();
    writer.Key("id");
    writer.Int(id);
    writer.Key("token");
    writer.String(*token);
    writer.EndObject();
  }
  writer.EndObject();
  writer.EndObject();
  return Written(writer, std::move(json));
}

Status TokenizerSession::CheckOpen() const {
  return tokenizer_ == nullptr ? InvalidArgument("no tokenizer is open") : HoldReserve();
}

Status TokenizerSession::ReadTruncation(const OptionReader& reader, text::EncodeOptions* options) const {
  constexpr std::pair<std::string_view, text::Truncation> kStrategies[] = {
      {"longest_first", text::Truncation::kLongestFirst},
      {"only_first", text::Truncation::kOnlyFirst},
      {"only_second", text::Truncation::kOnlySecond}};
  const JsonValue given = reader.Member("truncation");
  if (given.exists() && given.GetBool() != false) {
    const std::string_view name = given.GetBool() ? "longest_first" : given.GetString().value_or("");
    for (const auto& [known, strategy] : kStrategies) {
      if (name == known) options->truncation = strategy;
    }
    if (options->truncation == text::Truncation::kNone) {
      return InvalidArgument(
          "option truncation must be true, false, \"longest_first\", \"only_first\" or \"only_second\", not " +
          given.ToString());
    }
  }
  const bool has_length = reader.Member("max_length").exists();
  if (options->truncation == text::Truncation::kNone) {
    if (!has_length && !reader.Member("stride").exists()) return OkStatus();
    return InvalidArgument("options max_length and stride say how to cut a text: they need truncation");
  }
  if (has_length) return OkStatus();
  options->max_length = max_length_.value_or(0);
  if (!max_length_) options->truncation = text::Truncation::kNone;
  return OkStatus();
}

Result<TokenizerSession::Texts> TokenizerSession::ReadTexts(std::string_view request) const {
  PERUSE_RETURN_IF_ERROR(CheckOpen());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, kRequest));
  PERUSE_RETURN_IF_ERROR(EnsureMemory(SaturatingMultiply(2, request.size()), kRequest));
  OptionReader reader(document.root());
  Texts texts;
  reader.ReadText("text", &texts.text);
  reader.ReadOptional("text_pair", &texts.pair);
  reader.Read("add_special_tokens", &texts.options.add_special_tokens);
  reader.Read("max_length", 0, &texts.options.max_length);
  reader.Read("stride", 0, &texts.options.stride);
  PERUSE_RETURN_IF_ERROR(reader.status());
  PERUSE_RETURN_IF_ERROR(ReadTruncation(reader, &texts.options));
  return texts;
}

Result<std::vector<text::Encoding>> TokenizerSession::EncodeTexts(const Texts& texts) const {
  if (texts.pair) return tokenizer_->EncodePair(texts.text, *texts.pair, texts.options);
  return tokenizer_->Encode(texts.text, texts.options);
}

bool TokenizerSession::AppendCells(std::span<Utf8IndexConverter, 2> indices, const text::Encoding& window) {
  if (!TryGrow(&cells_, SaturatingMultiply(kCells, window.size()))) return false;
  for (size_t t = 0; t < window.size(); ++t) {
    const TextSpan span = ToTextSpan(indices[window.sequence_ids[t] == 1 ? 1 : 0], window.offsets[t]);
    const int32_t cells[kCells] = {window.ids[t],
                                   window.type_ids[t],
                                   window.word_ids[t],
                                   window.sequence_ids[t],
                                   window.special_tokens_mask[t],
                                   static_cast<int32_t>(span.start),
                                   static_cast<int32_t>(span.end)};
    cells_.insert(cells_.end(), cells, cells + kCells);
  }
  return true;
}

Result<std::string> TokenizerSession::Encode(std::string_view request) {
  PERUSE_ASSIGN_OR_RETURN(const Texts texts, ReadTexts(request));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows, EncodeTexts(texts));
  cells_.clear();
  std::string json;
  JsonWriter writer(&json);
  writer.BeginArray();
  // Windows follow each other, so the converters read each text about once.
  Utf8IndexConverter indices[2] = {Utf8IndexConverter(texts.text),
                                   Utf8IndexConverter(texts.pair ? *texts.pair : std::string_view())};
  for (const text::Encoding& window : windows) {
    if (!AppendCells(indices, window)) return OutOfMemory("no memory for the tokens of a text");
    writer.Int(static_cast<int64_t>(window.size()));
  }
  writer.EndArray();
  return Written(writer, std::move(json));
}

Result<size_t> TokenizerSession::Count(std::string_view request) const {
  PERUSE_ASSIGN_OR_RETURN(const Texts texts, ReadTexts(request));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<text::Encoding> windows, EncodeTexts(texts));
  return windows.front().size();
}

Result<std::string> TokenizerSession::Decode(std::string_view request) const {
  PERUSE_RETURN_IF_ERROR(CheckOpen());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, kRequest));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ReadIds(document));
  OptionReader reader(document.root());
  bool skip_special_tokens = false;
  reader.Read("skip_special_tokens", &skip_special_tokens);
  PERUSE_RETURN_IF_ERROR(reader.status());
  std::string json;
  JsonWriter writer(&json);
  writer.String(tokenizer_->Decode(ids, skip_special_tokens));
  return Written(writer, std::move(json));
}

Result<std::string> TokenizerSession::IdsToTokens(std::string_view request) const {
  PERUSE_RETURN_IF_ERROR(CheckOpen());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, kRequest));
  PERUSE_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ReadIds(document));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginArray();
  for (const int32_t id : ids) {
    PERUSE_ASSIGN_OR_RETURN(const std::string token, tokenizer_->IdToToken(id));
    writer.String(token);
  }
  writer.EndArray();
  return Written(writer, std::move(json));
}

Result<std::string> TokenizerSession::TokensToIds(std::string_view request) const {
  PERUSE_RETURN_IF_ERROR(CheckOpen());
  PERUSE_ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(request, kRequest));
  OptionReader reader(document.root());
  std::vector<std::string> tokens;
  reader.Read("tokens", &tokens);
  PERUSE_RETURN_IF_ERROR(reader.status());
  std::string json;
  JsonWriter writer(&json);
  writer.BeginArray();
  for (const std::string& token : tokens) {
    if (const std::optional<int32_t> id = tokenizer_->TokenToId(token)) {
      writer.Int(*id);
    } else {
      writer.Null();
    }
  }
  writer.EndArray();
  return Written(writer, std::move(json));
}

}  // namespace peruse
